// SPDX-License-Identifier: BSD-3-Clause
// Hands out the reading's tables over a Unix socket: to `surety show`, to dpdk-telemetry.py and to whoever
// speaks that protocol. It greets who connects, {"version": ..., "pid": ..., "max_output_len": ...,
// "network_namespace": ...}, and answers each message with one. "/" lists the commands; whatever is no
// command of ours answers null.
//
// "/surety/drops" or "/surety/drops,0" takes a new reading, and comes in pages:
//   {"/surety/drops": {"total": 70, "offset": 0, "next": 40, "rows": [{...}, ...]}}
// `next` is there while rows are left; "/surety/drops,40" goes on with the same reading. Who has room for
// larger answers than those that are greeted with says so, in bytes: "/surety/drops,40,131072" (at most
// kMostPageBytes).
//
// Other commands are given to it by name, and get what stands behind the comma: "/surety/explain,lan0 ...".
// What they throw is the answer: {"/surety/explain": {"error": "..."}}.
//
// DPDK's own telemetry is off, since its commands end the process (`/eal/memzone_info,99999` in 22.11).
#pragma once

#include <unistd.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "router/observe/reading_json.h"
#include "router/process/fd.h"
#include "router/process/network_namespace.h"

namespace surety {

inline constexpr std::size_t kPageBytes = 14'000;         // who says nothing reads 16 kB at once
inline constexpr std::size_t kMostPageBytes = 128 << 10;  // a message has to fit into the socket's buffer

// The rows of a table as text, each one made once, however many pages they are read in.
class TablePages {
 public:
  explicit TablePages(const Json& rows = Json::array());
  // JSON: the page that starts at row `offset`: rows of `bytes` in all, at least one if there is one; an
  // empty page beyond the end.
  std::string page(std::size_t offset, std::size_t bytes) const;

 private:
  std::string text_;                // one row after the other, with commas
  std::vector<std::size_t> begin_;  // of each row, and the end
};

class TelemetryServer {
 public:
  static constexpr std::size_t kMaxClients = 8;
  static constexpr std::size_t kMaxRequest = 1024;  // bytes; who sends more is hung up on
  // On a thread of the server, as `read`. One that takes the socket away answers by itself.
  using Command = std::function<Json(std::string_view arguments, Fd& socket)>;
  using Commands = std::map<std::string, Command, std::less<>>;

  // From construction to destruction. Only root and the router's own user are heard. Nobody holds up others:
  // who does not take an answer is hung up on, and where there are too many, who has been silent for longest.
  // `read`, what makes one of `tables`, and commands are called on a thread of the server, never two at the
  // same time. A socket that is there already is taken for a dead router's. Throws std::system_error.
  using Tables = std::map<std::string, std::function<Json()>, std::less<>>;  // null: there is none now
  TelemetryServer(std::filesystem::path socket, std::function<Reading()> read, Tables tables = {},
                  Commands commands = {});
  ~TelemetryServer();
  TelemetryServer(const TelemetryServer&) = delete;
  TelemetryServer& operator=(const TelemetryServer&) = delete;

 private:
  struct Client {
    Fd socket;
    std::uint64_t last_heard = 0;  // in wake-ups of the server
    std::string command = {};      // of the table that it reads, and ...
    TablePages pages{};            // ... the table
  };
  void serve();
  void let_in();
  bool converse(Client& client);
  std::string answer(Client& client, std::string_view request);
  Json names() const;
  bool has(std::string_view table) const;
  Json rows_of(std::string_view table) const;

  const std::filesystem::path path_;
  const std::function<Reading()> read_;
  const Tables tables_;
  const Commands commands_;
  const std::uint64_t namespace_ = network_namespace();
  const uid_t user_ = ::geteuid();  // who may ask, beside root
  Fd stop_, listener_;
  std::vector<Client> clients_;
  std::uint64_t wakeups_ = 0;
  std::thread thread_;
};

}  // namespace surety
