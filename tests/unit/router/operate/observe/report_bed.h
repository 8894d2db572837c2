// SPDX-License-Identifier: BSD-3-Clause
// For the tests of reports: records of contracts, written as a router does, in a directory that goes with the
// test.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "router/operate/observe/report.h"

namespace surety::test {

namespace fs = std::filesystem;

inline constexpr Minute kNoon = 490'000 * 60;  // 2025-11-24T16:00Z

inline ContractMinute minute_of(const std::string& customer, std::uint64_t demanding, std::uint64_t met,
                                std::optional<double> objective = 0.99) {
  ContractMinute row{customer, "gold", customer + ".1", objective};
  row.tally = {1e6, 10 * demanding, 7 * demanding, 2 * demanding, 3, 4, demanding, met, demanding / 10};
  return row;
}

class ReportBed : public testing::Test {
 protected:
  ReportBed() { fs::create_directories(all_); }
  ~ReportBed() override { fs::remove_all(all_); }

  // Written by another run of the router each time.
  void keep(Minute minute, std::vector<ContractMinute> rows, std::uint64_t limit = 1'000'000) const {
    ReportLog log(all_ / "edge", limit);
    log.add(minute, std::move(rows));
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& f : fs::directory_iterator(all_ / "edge")) names.push_back(f.path().filename());
    std::ranges::sort(names);
    return names;
  }
  std::string text(ReportRequest request = {}) const {
    request.directory = all_;
    std::ostringstream out, err;
    status_ = report(request, out, err);
    return out.str() + err.str();
  }

  const fs::path all_ = fs::temp_directory_path() / fs::path("surety-report-" + std::to_string(::getpid()));
  mutable int status_ = 0;
};

}  // namespace surety::test
