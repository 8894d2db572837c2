// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/report.h"

#include <gmock/gmock.h>

#include <fstream>
#include <string>
#include <thread>

#include "tests/unit/router/operate/observe/report_bed.h"

namespace surety {
namespace {

using namespace test;
using testing::ElementsAre;

using ReportLogTest = ReportBed;

// As a power cut leaves it; and a file of another hand.
TEST_F(ReportLogTest, WhatIsTornIsLeftOut) {
  keep(kNoon, {minute_of("acme", 60, 60)});
  std::ofstream(all_ / "edge" / files()[0], std::ios::app) << "[29400001,0,10";
  keep(kNoon + 1, {minute_of("acme", 60, 60)});
  std::ofstream(all_ / "edge" / "2025-11-24T17.jsonl")
      << "\x00\xff{}[]\n[]\n{}\n[1]\n[\"n\"]\n[29400070,7,1]\n";
  const Json rows = Json::parse(text({.format = ReportRequest::Format::json}));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["demanding_seconds"], 120);
}

TEST_F(ReportLogTest, ADayIsKept) {
  for (const Minute hour : {0, 1, 24, 26}) keep(kNoon + hour * 60, {minute_of("acme", 60, 60)});
  EXPECT_THAT(files(), ElementsAre("2025-11-24T17.jsonl", "2025-11-25T16.jsonl", "2025-11-25T18.jsonl"));
}

TEST_F(ReportLogTest, WhatAClockThatWasAheadHasWrittenGoes) {
  keep(kNoon + 240 * 60, {minute_of("acme", 60, 60)});
  keep(kNoon, {minute_of("acme", 60, 60)});
  EXPECT_THAT(files(), ElementsAre("2025-11-24T16.jsonl"));
}

TEST_F(ReportLogTest, AndNoMoreThanFits) {
  for (Minute hour = 0; hour < 20; ++hour) keep(kNoon + hour * 60, {minute_of("acme", 60, 60)}, 500);
  EXPECT_LE(files().size(), 6u);
  EXPECT_EQ(files().back(), "2025-11-25T11.jsonl") << "the newest stays";
}

TEST_F(ReportLogTest, ADiskThatRefusesIsToldAndHoldsUpNobody) {
  ReportLog log(all_ / "edge", 1000);
  fs::remove_all(all_ / "edge");
  std::ofstream(all_ / "edge") << "in the way";
  for (Minute m = 0; m < 100; ++m) log.add(kNoon + m, {minute_of("acme", 60, 60)});
  while (log.trouble().empty()) std::this_thread::yield();
  SUCCEED();
}

}  // namespace
}  // namespace surety
