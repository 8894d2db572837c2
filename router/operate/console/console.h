// SPDX-License-Identifier: BSD-3-Clause
// The console: one page, served beside /metrics, and its tables. `/` and its files are those of `web/`;
// `/api/TABLE` has the rows of reading_json.h as JSON, `/api/` the names of the tables.
//
// A table has its first 20,000 rows; the header Surety-Rows has their total number, Surety-Uptime the time of
// the reading.
//
// Guarantees: for any number of requests there is at most one reading per second, and making answers takes at
// most a tenth of the server's time: slow answers are cached for longer. All clients share an answer. Files
// are read once, at the start.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "conditioners/units.h"
#include "router/operate/observe/reading_json.h"
#include "router/process/metrics_server.h"

namespace surety {

class Console {
 public:
  static constexpr std::ptrdiff_t kMostRows = 20'000;
  using Page = std::shared_ptr<const WebPage>;
  using Read = std::function<Reading()>;
  // Tables that are not from a reading, by name; null: currently none.
  using Tables = std::map<std::string_view, std::function<Json()>>;
  using Now = std::function<Time()>;

  // `files`: a directory whose files are served, "index.html" as "/". Throws std::system_error with the file
  // that cannot be read.
  Console(const std::filesystem::path& files, Read read, Now now, Tables own = {});

  // nullptr: there is no such path. Thread-safe.
  Page page(std::string_view path);

 private:
  struct Table {
    Page page{};
    Time good_until{};
  };
  Page table(std::string_view name);
  Time rested(Time begun) const;

  std::map<std::string, Page, std::less<>> files_;
  const Read read_;
  const Now now_;
  const Tables own_;
  std::mutex one_at_a_time_;
  Reading reading_;
  Time reading_good_until_{};
  std::map<std::string_view, Table> tables_;  // tables requested so far
};

}  // namespace surety
