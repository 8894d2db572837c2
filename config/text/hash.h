// SPDX-License-Identifier: BSD-3-Clause
// A configuration's fingerprint for metrics and logs: which text is running.
#pragma once

#include <string>
#include <string_view>

namespace surety::config {

// FNV-1a, 64 bits, as 16 hexadecimal digits. Identifies texts; does not resist attacks.
std::string hash_of(std::string_view text);

}  // namespace surety::config
