// SPDX-License-Identifier: BSD-3-Clause
// From YAML text to a checked Config, or to every error of its files at once.
//
// Nothing throws. Errors and warnings carry file:line:column (1-based), the source line and what to do.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/text/problems.h"
#include "config/text/tree.h"

namespace surety::config {

struct ParseResult {
  std::optional<Config> config;         // present when there is no error
  std::vector<Diagnostic> diagnostics;  // in the order of the file, then those of included ones
  Tree tree{};                          // all texts and values read, also where there are errors
  bool ok() const { return config.has_value(); }
};

// `running`: configuration of the running router; changes that need a restart (reload.h) are errors, too.
//
// Parses these texts and values alone.
ParseResult parse_tree(Tree tree, const Config* running = nullptr);
ParseResult parse(std::string_view text, const std::string& file_name);
// Parses these texts, with values from the files and the environment as they are now.
ParseResult parse_stored(Tree tree, const Config* running = nullptr);
// Parses a file, the files that it includes, and such values.
ParseResult parse_file(const std::string& path, const Config* running = nullptr);

}  // namespace surety::config
