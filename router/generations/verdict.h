// SPDX-License-Identifier: BSD-3-Clause
// What a router, or this process where none runs, says of a candidate; changes_schema.json has its form.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "config/changes.h"
#include "config/text/diagnostic.h"
#include "router/generations/config_tree.h"
#include "router/observe/reading_json.h"

namespace surety {

// Errors and warnings as they are printed; `changes` from what runs, where there is no error.
Json verdict_of(const std::vector<config::Diagnostic>& diagnostics, Json changes = Json::array());
// Of changes at most kMostChanges: an answer has to fit into one message.
inline constexpr std::size_t kMostChanges = 200;
Json in_json(const std::vector<config::Change>& changes);

bool has_errors(const Json& verdict);
std::vector<std::string> what_takes_a_restart(const Json& verdict);
// What differs, one line each; and what is wrong, with its places renamed.
void print_changes(const Json& verdict, std::ostream& out);
void print_problems(const Json& verdict, const Renames& renames, std::ostream& err);
// Of each change what it is.
Json words_of(const Json& verdict);

}  // namespace surety
