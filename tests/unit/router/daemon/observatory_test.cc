// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/observatory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace surety {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::Pair;

struct MinuteReportBed : ::testing::Test {
  MinuteReportBed() {
    char name[] = "/tmp/report-XXXXXX";
    top = ::mkdtemp(name);
  }
  ~MinuteReportBed() override { fs::remove_all(top); }

  static std::vector<ContractMinute> rows(const std::string& contract) {
    ContractMinute row{};
    row.customer = "acme";
    row.service = "gold";
    row.contract = contract;
    return {row};
  }

  fs::path top;
};

TEST_F(MinuteReportBed, StoresEachMinuteThatItHasCounted) {
  const Minute first = 29'000'000;
  {
    MinuteReport report;
    report.open(top, 1 << 20);
    EXPECT_EQ(report.directory(), top);
    EXPECT_FALSE(report.counts());
    EXPECT_TRUE(report.is_over(first)) << "the time before the first sample is no minute";
    report.begin(first, {});
    EXPECT_TRUE(report.counts());
    EXPECT_FALSE(report.is_over(first));
    EXPECT_TRUE(report.is_over(first + 1));
    report.begin(first + 1, rows("a"));
    report.end(rows("b"));
  }
  std::vector<std::pair<Minute, std::string>> stored;
  ReportReader().read(
      top, 0, [&](Minute minute, const ContractMinute& row) { stored.emplace_back(minute, row.contract); });
  EXPECT_THAT(stored, ElementsAre(Pair(first, "a"), Pair(first + 1, "b")));
}

TEST_F(MinuteReportBed, IsOffWithoutADirectory) {
  MinuteReport report;
  EXPECT_FALSE(report.is_over(1));
  report.open({}, 1 << 20);
  EXPECT_FALSE(report.is_over(1));
  std::ofstream(top / "file") << "no directory";
  report.open(top / "file", 1 << 20);
  EXPECT_FALSE(report.is_over(1));
  EXPECT_TRUE(report.directory().empty());
}

}  // namespace
}  // namespace surety
