// SPDX-License-Identifier: BSD-3-Clause
// The console: one page, served beside /metrics, and the tables that it shows. `/` and its files are those of
// `web/`; `/api/TABLE` has the rows of reading_json.h as JSON, `/api/` the names of the tables.
//
// Of a table there are its first 20,000 rows; the header Surety-Rows says of how many, Surety-Uptime of when.
//
// Guarantees: however many ask, and whatever for, there is one reading a second at most, and what it takes to
// make the answers is a tenth of the server's time at most: what was slow to make is kept for longer. All who
// read one answer share it. What the files were at the start stays until the end.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "conditioners/units.h"
#include "router/observe/reading_json.h"
#include "router/process/web_page.h"

namespace surety {

class Console {
 public:
  static constexpr std::ptrdiff_t kMostRows = 20'000;
  using Page = std::shared_ptr<const WebPage>;
  using Read = std::function<Reading()>;
  // Tables that are of no reading, by name; null: there is none now.
  using Tables = std::map<std::string_view, std::function<Json()>>;
  using Now = std::function<Time()>;

  // `files`: a directory whose files are served, "index.html" as "/". Throws std::system_error, whose text
  // names what cannot be read.
  Console(const std::filesystem::path& files, Read read, Now now, Tables own = {});

  // Null: there is no such path. From any thread.
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
  std::map<std::string_view, Table> tables_;  // those that somebody has asked for
};

}  // namespace surety
