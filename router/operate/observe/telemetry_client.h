// SPDX-License-Identifier: BSD-3-Clause
// Reads the tables of a running router over its telemetry socket (telemetry_server.h).
//
// A router called edge1 has the EAL file prefix surety-edge1; its socket is
// DIR/dpdk/surety-edge1/dpdk_telemetry.v2, as dpdk-telemetry.py expects; DIR is $RUNTIME_DIRECTORY, else
// /var/run for root, else $XDG_RUNTIME_DIR, else /tmp. A socket without listener, left by a router that died,
// does not count.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "router/operate/observe/reading_json.h"
#include "router/process/fd.h"

namespace surety {

// Directories that may have routers' sockets: DIR of the environment, then the usual ones.
std::vector<std::filesystem::path> runtime_directories();

// The directory of a router's socket is named for the router.
inline constexpr std::string_view kFilePrefix = "surety-", kTelemetrySocket = "dpdk_telemetry.v2";

class TelemetryClient {
 public:
  explicit TelemetryClient(std::vector<std::filesystem::path> directories = runtime_directories(),
                           std::chrono::milliseconds patience = std::chrono::seconds(5))
      : directories_(std::move(directories)), patience_(patience) {}

  // True if such a router is running. Throws if that cannot be determined.
  bool runs(const std::optional<std::string>& router) const;
  // Names of routers that accept connections, sorted.
  std::vector<std::string> running() const;
  // All rows of one of kTables or kOwnTables, as in reading_json.h. Without `router`: of the only running
  // router, or the only one of this network namespace. Throws std::runtime_error, one sentence with the fix,
  // if there is no answer.
  Json table(std::string_view table, const std::optional<std::string>& router) const;
  // The answer to one of the other commands (telemetry_server.h). Throws as table() does, also if the router
  // answers with an error.
  Json ask(std::string_view command, std::string_view arguments,
           const std::optional<std::string>& router) const;
  // ask(), with the connection kept open.
  struct Conversation {
    Json answer;
    Fd socket;
  };
  Conversation begin(std::string_view command, std::string_view arguments,
                     const std::optional<std::string>& router) const;

 private:
  std::vector<std::filesystem::path> directories_;
  std::chrono::milliseconds patience_;  // longest time for one answer
};

}  // namespace surety
