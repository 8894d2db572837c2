// SPDX-License-Identifier: BSD-3-Clause
// Files whose text somebody has written: regular files (regular_file.h). What is wrong is reported, without a
// place.
#pragma once

#include <optional>
#include <string>

#include "config/text/problems.h"

namespace surety::config {

// The text of a file, as far as a Document takes it; none: reported.
std::optional<std::string> read_text(const std::string& path, Problems& problems);
// Of a configuration: also reported, and none, where the text ends within a line. So does a file that is not
// written to its end yet, and what is there of it may well be a configuration. JSON is whole with its last
// brace.
std::optional<std::string> read_yaml(const std::string& path, Problems& problems);
// Of one that holds a secret: also reported where everybody on this machine may read or change it.
std::optional<std::string> read_secret(const std::string& path, Problems& problems);

}  // namespace surety::config
