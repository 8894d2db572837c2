// SPDX-License-Identifier: BSD-3-Clause
// `surety diff`, `apply`, `confirm`, `rollback`, `history` and `reload`: a router's configuration is changed,
// and changed back.
//
// The file that the router is started with says what is in effect, and is replaced in one step. A running
// router judges a candidate and goes on by it before that, for ten seconds or as long as a trial was wished;
// what is not in the file by then, it takes back by itself. So who is killed at any instant leaves one of the
// two configurations, with the router as on the disk, and a router that starts goes by what was confirmed.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>

#include "router/observe/telemetry_client.h"

namespace surety {

struct ChangeRequest {
  std::optional<std::string> router{};  // none: the only one that runs, or that has generations
  std::filesystem::path file{};         // apply, diff: the candidate
  std::filesystem::path to{};     // what the router is started with; empty: as it was, or in /etc/surety
  std::filesystem::path state{};  // of all routers; empty: state_directory()
  std::optional<std::chrono::seconds> confirm{};
  std::string why{};
  bool at_next_start = false;       // what takes a restart is installed for that
  std::optional<int> generation{};  // rollback: to this one; none: to the one before
  bool json = false;                // history, diff
};

// Where they answer, and when this is (of the day, s).
struct ChangeContext {
  const TelemetryClient& client;
  std::int64_t now = 0;
  std::ostream& out;
  std::ostream& err;
};

// Each gives the exit status: 0: done; 1: not, and nothing has changed, with a sentence on `err` that says
// why.
int diff(const ChangeRequest& request, const ChangeContext& context);  // 1: they differ; 2: it has errors
// What a running router would make of the candidate. 1: it would not take it over.
int compare_with_running(const ChangeRequest& request, const ChangeContext& context);
int apply(const ChangeRequest& request, const ChangeContext& context);
int confirm(const ChangeRequest& request, const ChangeContext& context);
int rollback(const ChangeRequest& request, const ChangeContext& context);
int history(const ChangeRequest& request, const ChangeContext& context);
int reload(const ChangeRequest& request, const ChangeContext& context);

}  // namespace surety
