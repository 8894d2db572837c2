// SPDX-License-Identifier: BSD-3-Clause
// Records of each contract, minute by minute, in files that outlive the router: for `surety report`.
//
// A file for each hour (UTC), `2026-11-24T13.jsonl`; each line is a JSON array: ["n", number, customer,
// service, contract, objective or null, 1 for down] gives a contract its number for the lines behind it, and
// [minute, number, committed bytes per second, offered, delivered IN, delivered OUT bytes, dropped, lost
// packets, demanding, met, held back seconds] is its record of the minute that begins `minute` x 60 s after
// 1970. Missing held back seconds are 0. Files older than a day and an hour are deleted, and the oldest ones
// while all together exceed the limit.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <ios>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "router/operate/observe/contract_book.h"

namespace surety {

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

}  // namespace surety
