// SPDX-License-Identifier: BSD-3-Clause
// `surety diff`, `apply`, `confirm`, `rollback`, `history` and `reload`: change a router's configuration, and
// change it back; and the verdict on a candidate.
//
// The router's file is the configuration in effect, and is replaced in one step. Before that a running router
// checks a candidate and runs with it, for ten seconds or the length of the trial; if the file does not have
// it by then, the router rolls back. A kill at any instant therefore leaves one of the two configurations, in
// the router and on the disk, and a router starts with what was confirmed.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "config/changes.h"
#include "config/text/problems.h"
#include "router/operate/generations/config_tree.h"
#include "router/operate/observe/reading_json.h"
#include "router/operate/observe/telemetry_client.h"

namespace surety {

struct ChangeRequest {
  std::optional<std::string> router{};  // nullopt: the only one that runs, or that has generations
  std::filesystem::path file{};         // apply, diff: the candidate
  std::filesystem::path to{};           // the router's file; empty: its last one, or in /etc/surety
  std::filesystem::path state{};        // state directory of all routers; empty: state_directory()
  std::optional<std::chrono::seconds> confirm{};
  std::string why{};
  bool at_next_start = false;       // installs changes that require a restart, too
  std::optional<int> generation{};  // rollback: target; nullopt: the previous one
  bool json = false;                // history, diff
  std::string id{};                 // edit: a change with an ID that the history has is not made again
  bool dry_run = false;             // edit: checks and prints, and changes nothing
  Renames places{};                 // edit: files of the ConfigTree, with their names in messages
};

// Input and output of the commands; `now` in Unix seconds.
struct ChangeContext {
  const TelemetryClient& client;
  std::int64_t now = 0;
  std::ostream& out;
  std::ostream& err;
};

// Each returns the exit status. 0: done; 1: not done, and nothing has changed, with the reason as a sentence
// on `err`.
int diff(const ChangeRequest& request, const ChangeContext& context);  // 1: they differ; 2: it has errors
// The result of the candidate on the running router. 1: it would be refused.
int compare_with_running(const ChangeRequest& request, const ChangeContext& context);
int apply(const ChangeRequest& request, const ChangeContext& context);
// Changes files of the installed configuration, and applies the result; a file that has been edited and not
// been reloaded is an error. `how`: the command, for the history.
using Edit = std::function<void(ConfigTree&)>;
int edit(const ChangeRequest& request, const ChangeContext& context, const std::string& how,
         const Edit& change);
int confirm(const ChangeRequest& request, const ChangeContext& context);
int rollback(const ChangeRequest& request, const ChangeContext& context);
int history(const ChangeRequest& request, const ChangeContext& context);
int reload(const ChangeRequest& request, const ChangeContext& context);

// The verdict on a candidate, from a router, or from this process if none is running (format:
// changes_schema.json): errors and warnings as printed; `changes` from the running configuration, if there is
// no error.
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
