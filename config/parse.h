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
#include "config/text/diagnostic.h"

namespace surety::config {

struct ParseResult {
  std::optional<Config> config;         // present when there is no error
  std::vector<Diagnostic> diagnostics;  // in the order of the file
  bool ok() const { return config.has_value(); }
};

ParseResult parse(std::string_view text, const std::string& file_name);
// `document`: of that text, where somebody has it already.
class Document;
ParseResult parse_document(const Document& document, std::string_view text, const std::string& file_name);
ParseResult parse_file(const std::string& path);

}  // namespace surety::config
