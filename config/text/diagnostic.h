// SPDX-License-Identifier: BSD-3-Clause
// One finding about a file, for its author: the place, the problem, and the fix.
#pragma once

#include <cstdint>
#include <string>

namespace surety::config {

struct Diagnostic {
  enum class Severity : std::uint8_t { error, warning, note };  // a note gives the value of a default
  Severity severity = Severity::error;
  std::string file;
  int line = 1, column = 1;  // 1-based; a line below 1: `file` alone says where (the lab's `--set`)
  std::string message;
  std::string source;  // the line itself; may be empty
  // "file:line:column: error: message\n    source line\n    ^\n"
  std::string format() const;
};

}  // namespace surety::config
