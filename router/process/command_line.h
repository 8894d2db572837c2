// SPDX-License-Identifier: BSD-3-Clause
// Describes a program's command line to other programs: manual pages, shell completion, tests. The command
// line's definition is the only source.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace surety {

// {"name", "description", "options": [...], "positionals": [...], "commands": [...]}; an option is {"names":
// ["-h", "--help"], "description"} and, if it takes a value, {"type", "many"}, with {"default"} or
// {"required": true} where they apply. Hidden ones are left out.
nlohmann::ordered_json command_line_json(const CLI::App& app);

// A word whose values depend on running routers.
struct Unknown {
  std::string command;                       // `show`; empty: none yet
  std::string name;                          // `--name`, or a positional's: `what`
  std::string word;                          // the part entered so far
  std::vector<std::string> before;           // positionals before it
  std::map<std::string, std::string> given;  // options entered, by their last name, with their values
};
// Returns possible values, whatever was entered so far; nullopt: a file.
using Values = std::function<std::optional<std::vector<std::string>>(const Unknown&)>;

// Completions of the last of `words`, the line behind the program's name; each with a description behind a
// tab if there is one; `:files` if it may be a file. A completion that ends in `=` is not finished.
std::vector<std::string> completions(const CLI::App& app, const std::vector<std::string>& words,
                                     const Values& values);

// Handles `--help-json` and `complete WORDS...`, which are not in the help, on standard output, before `app`
// has parsed anything; for an unknown command prints the nearest one on standard error. Returns the exit
// status; nullopt: none of these.
std::optional<int> answer_programs(const CLI::App& app, int argc, const char* const* argv,
                                   const Values& values = {});

}  // namespace surety
