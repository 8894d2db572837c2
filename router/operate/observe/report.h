// SPDX-License-Identifier: BSD-3-Clause
// `surety report`: committed and delivered traffic of each customer, from the router's files; and these
// files. The router need not run.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <ios>
#include <iosfwd>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "config/config.h"
#include "router/operate/observe/contract_book.h"
#include "router/operate/observe/reading_json.h"

namespace surety {

// Records of each contract, minute by minute, in files that outlive the router: for `surety report`.
//
// A file for each hour (UTC), `2026-11-24T13.jsonl`; each line is a JSON array: ["n", number, customer,
// service, contract, objective or null, 1 for down] gives a contract its number for the lines behind it, and
// [minute, number, committed bytes per second, offered, delivered IN, delivered OUT bytes, dropped, lost
// packets, demanding, met, held back seconds] is its record of the minute that begins `minute` x 60 s after
// 1970. Missing held back seconds are 0. Files older than a day and an hour are deleted, and the oldest ones
// while all together exceed the limit.

using Minute = std::int64_t;  // since 1970

class ReportLog {
 public:
  static constexpr Minute kKept = 25 * 60;
  static constexpr std::size_t kWaiting =
      5;  // minutes that a slow disk may delay; then the oldest are dropped

  // Makes the directory. Throws std::system_error.
  ReportLog(std::filesystem::path directory, std::uint64_t limit_bytes);
  ~ReportLog();  // after writing everything
  ReportLog(const ReportLog&) = delete;
  ReportLog& operator=(const ReportLog&) = delete;

  // Queues the rows; never waits for the disk.
  void add(Minute minute, std::vector<ContractMinute> rows);
  // Why the last minute could not be written; empty: it was written.
  std::string trouble() const;

 private:
  struct Page {
    Minute minute;
    std::vector<ContractMinute> rows;
  };
  void work(const std::stop_token& stop);
  void write(const Page& page);
  void tidy(Minute now) const;

  const std::filesystem::path directory_;
  const std::uint64_t limit_;
  std::filesystem::path file_;                                 // written last, and ...
  std::map<std::array<std::string, 3>, std::size_t> numbers_;  // ... the numbers of contracts there
  mutable std::mutex mutex_;                                   // guards the members below
  std::condition_variable_any wake_;
  std::deque<Page> pages_;
  std::string trouble_;
  std::jthread thread_;  // last: it uses all of it
};

// Reads the files of a directory, each line once over all calls. Lines that are invalid or incomplete are
// skipped.
class ReportReader {
 public:
  using Take = std::function<void(Minute, const ContractMinute&)>;
  // Calls take() for each record from the minute `since` on. Throws std::system_error if there is no such
  // directory.
  void read(const std::filesystem::path& directory, Minute since, const Take& take);

 private:
  struct File {
    std::streamoff read = 0;                        // bytes
    std::map<std::size_t, ContractMinute> names{};  // indexed by number
  };
  static void read_on(File& file, const std::filesystem::path& path, Minute since, const Take& take);

  std::map<std::filesystem::path, File> files_;
};

struct ReportRequest {
  enum class Format : std::uint8_t { text, csv, json };
  std::optional<std::string> router{}, customer{};  // nullopt: the only router; all customers
  std::filesystem::path directory{};  // directory of all routers' files; empty: state_directory()
  Minute since = 0, until = std::numeric_limits<Minute>::max();
  bool hours = false;  // a row for each hour, too
  Format format = Format::text;
};

// Reads a router's directory. A row for each contract, by customer: {"customer", "service", "contract",
// "from", "to" (ISO 8601), "committed_ bytes_per_second", "offered_bytes", "delivered_in_bytes",
// "delivered_out_bytes", "dropped_packets", "lost_packets", "demanding_seconds", "met_seconds",
// "held_back_seconds", "met_ratio", "objective_ratio", "kept", "direction"}; members that do not apply are
// left out. `ahead` counts the records of minutes after `until`, written while the clock was ahead: they are
// left out.
Json report_rows(const std::filesystem::path& directory, const ReportRequest& request, std::size_t& ahead);

// Default directory of the files: $SURETY_STATE, $STATE_DIRECTORY of a service manager, or /var/lib/surety.
std::filesystem::path state_directory();
// Directory of this router's files; empty: none.
std::filesystem::path report_directory(const config::Config& config);

// Exit status 0, or 1 with a sentence in `err`.
int report(const ReportRequest& request, std::ostream& out, std::ostream& err);

}  // namespace surety
