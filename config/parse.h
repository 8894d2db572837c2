// SPDX-License-Identifier: BSD-3-Clause
// From YAML text to a checked Config, or to every error of the file at once.
//
// Nothing throws. Errors and warnings carry file:line:column (1-based), the source line and what to do.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace surety::config {

struct Diagnostic {
  enum class Severity : std::uint8_t { error, warning };
  Severity severity = Severity::error;
  std::string file;
  int line = 1, column = 1;  // 1-based; a line below 1: `file` alone says where (the lab's `--set`)
  std::string message;
  std::string source;  // the line itself; may be empty
  // "file:line:column: error: message\n    source line\n    ^\n"
  std::string format() const;
};

struct ParseResult {
  std::optional<Config> config;         // present when there is no error
  std::vector<Diagnostic> diagnostics;  // in the order of the file
  bool ok() const { return config.has_value(); }
};

ParseResult parse(std::string_view text, const std::string& file_name);
ParseResult parse_file(const std::string& path);

}  // namespace surety::config
