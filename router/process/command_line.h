// SPDX-License-Identifier: BSD-3-Clause
// What a program says of its own command line to other programs: to the manual pages, to the shell that
// completes a word, to tests. The command line itself is the only source.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace surety {

// {"name", "description", "options": [...], "positionals": [...], "commands": [...]}; an option is
// {"names": ["-h", "--help"], "description"} and, where it takes a value, {"type", "many"}, where it has or
// needs one {"default"}, {"required": true}. Nothing hidden.
nlohmann::ordered_json command_line_json(const CLI::App& app);

// A word that only what runs now can tell.
struct Unknown {
  std::string command;                       // `show`; empty before any
  std::string name;                          // `--name`, or a positional's: `what`
  std::string word;                          // what there is of it
  std::vector<std::string> before;           // positionals that stand before it
  std::map<std::string, std::string> given;  // options that do, by their last name, with their values
};
// What it may be, whatever there is of it; none: a file.
using Values = std::function<std::optional<std::vector<std::string>>(const Unknown&)>;

// The words that may stand in the place of the last of `words`, the line behind the program's name; each with
// a description behind a tab where there is one; `:files` where it may be a file. One that ends in `=` is not
// finished.
std::vector<std::string> completions(const CLI::App& app, const std::vector<std::string>& words,
                                     const Values& values);

// `--help-json` and `complete WORDS...`, which no help names: answered on standard output, before `app` has
// parsed anything; a first word that is no command: the nearest one, on standard error. Exit status; none: it
// was none of these.
std::optional<int> answer_programs(const CLI::App& app, int argc, const char* const* argv,
                                   const Values& values = {});

}  // namespace surety
