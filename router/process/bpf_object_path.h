// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace surety {

// Where a compiled BPF program is: beside the running executable, else in ../lib/surety/bpf/ from there.
// Empty: nowhere.
std::string bpf_object_path(std::string_view file);

}  // namespace surety
