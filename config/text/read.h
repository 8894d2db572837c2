// SPDX-License-Identifier: BSD-3-Clause
// Readers of files that an operator writes: regular files (regular_file.h). Errors are reported, without a
// mark.
#pragma once

#include <optional>
#include <string>

#include "config/text/problems.h"

namespace surety::config {

// The text of a file, as far as a Document takes it; none: reported.
std::optional<std::string> read_text(const std::string& path, Problems& problems);
// The text of a configuration: also reported, and none, where the text ends within a line, since it may still
// be being written, and its beginning may be a valid configuration. JSON ends with its last brace.
std::optional<std::string> read_yaml(const std::string& path, Problems& problems);
// The text of a file with a secret: also reported where other users of this machine may read or change it.
std::optional<std::string> read_secret(const std::string& path, Problems& problems);

}  // namespace surety::config
