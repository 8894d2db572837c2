// SPDX-License-Identifier: BSD-3-Clause
// Serves the reading's tables over a Unix socket: to `surety show`, dpdk-telemetry.py and other clients of
// that protocol. It sends a greeting on connection, {"version": ..., "pid": ..., "max_output_len": ...,
// "network_namespace": ...}, and answers each message with one. "/" lists the commands; the answer to an
// unknown command is null.
//
// "/surety/drops" or "/surety/drops,0" takes a new reading, and comes in pages:
//   {"/surety/drops": {"total": 70, "offset": 0, "next": 40, "rows": [{...}, ...]}}
// `next` is present while rows are left; "/surety/drops,40" continues with the same reading. A client with
// room for larger answers than in the greeting adds their bytes: "/surety/drops,40,131072" (at most
// kMostPageBytes).
//
// Other commands are registered by name, and get the text behind the comma: "/surety/explain,lan0 ...". If
// they throw, the answer is {"/surety/explain": {"error": "..."}}.
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

#include "router/operate/observe/reading_json.h"
#include "router/process/fd.h"
#include "router/process/this_process.h"

namespace surety {

inline constexpr std::size_t kPageBytes = 14'000;         // default of clients that read 16 kB at once
inline constexpr std::size_t kMostPageBytes = 128 << 10;  // a message must fit into the socket's buffer

// The rows of a table as text, each rendered once for any number of pages.
class TablePages {
 public:
  explicit TablePages(const Json& rows = Json::array());
  // JSON: the page from row `offset`: rows of `bytes` in all, at least one if any is left; an empty page
  // beyond the end.
  std::string page(std::size_t offset, std::size_t bytes) const;

 private:
  std::string text_;                // all rows, separated by commas
  std::vector<std::size_t> begin_;  // offsets of the rows, and the end
};

class TelemetryServer {
 public:
  static constexpr std::size_t kMaxClients = 8;
  static constexpr std::size_t kMaxRequest = 1024;  // bytes; clients that send more are disconnected
  // Called on a thread of the server, as `read`. A command that takes the socket away sends its answer
  // itself.
  using Command = std::function<Json(std::string_view arguments, Fd& socket)>;
  using Commands = std::map<std::string, Command, std::less<>>;

  // Serves from construction to destruction, only root and the router's own user. No client delays others:
  // one that does not read its answer is disconnected, and beyond kMaxClients the one silent for longest.
  // `read`, the makers of `tables` and commands are called on a thread of the server, never two at the same
  // time. An existing socket is taken for a dead router's. Throws std::system_error.
  using Tables = std::map<std::string, std::function<Json()>, std::less<>>;  // null: currently none
  TelemetryServer(std::filesystem::path socket, std::function<Reading()> read, Tables tables = {},
                  Commands commands = {});
  ~TelemetryServer();
  TelemetryServer(const TelemetryServer&) = delete;
  TelemetryServer& operator=(const TelemetryServer&) = delete;

 private:
  struct Client {
    Fd socket;
    std::uint64_t last_heard = 0;  // in wake-ups of the server
    std::string command = {};      // name of the table being read
    TablePages pages{};            // pages of that table
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
  const uid_t user_ = ::geteuid();  // the only user served, beside root
  Fd stop_, listener_;
  std::vector<Client> clients_;
  std::uint64_t wakeups_ = 0;
  std::thread thread_;
};

}  // namespace surety
