// SPDX-License-Identifier: BSD-3-Clause
// The check of a candidate by a router, or by this process if none is running (format: changes_schema.json).
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "config/changes.h"
#include "config/text/diagnostic.h"
#include "router/operate/generations/config_tree.h"
#include "router/operate/observe/reading_json.h"

namespace surety {

// Errors and warnings as printed; `changes` from the running configuration, if there is no error.
Json verdict_of(const std::vector<config::Diagnostic>& diagnostics, Json changes = Json::array());
// The most changes: an answer must fit into one message.
inline constexpr std::size_t kMostChanges = 200;
Json in_json(const std::vector<config::Change>& changes);

bool has_errors(const Json& verdict);
std::vector<std::string> what_takes_a_restart(const Json& verdict);
// Prints changes, one line each; and errors and warnings, with renamed places.
void print_changes(const Json& verdict, std::ostream& out);
void print_problems(const Json& verdict, const Renames& renames, std::ostream& err);
// The text of each change.
Json words_of(const Json& verdict);

}  // namespace surety
