// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "tests/unit/router/operate/observe/report_bed.h"

namespace surety {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;
using namespace test;

using ReportTest = ReportBed;

TEST_F(ReportTest, SumsWhatIsKeptByContract) {
  keep(kNoon, {minute_of("acme", 60, 60), minute_of("globex", 10, 4, std::nullopt)});
  keep(kNoon + 1, {minute_of("acme", 60, 57)});
  const Json rows = Json::parse(text({.format = ReportRequest::Format::json}));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0], Json::parse(R"({"customer": "acme", "service": "gold", "contract": "acme.1",
    "from": "2025-11-24T16:00Z", "to": "2025-11-24T16:02Z", "committed_bytes_per_second": 1000000.0,
    "offered_bytes": 1200, "delivered_in_bytes": 840, "delivered_out_bytes": 240, "dropped_packets": 6,
    "lost_packets": 8, "demanding_seconds": 120, "met_seconds": 117, "held_back_seconds": 12, "met_ratio": 0.975,
    "objective_ratio": 0.99, "kept": false, "direction": "up"})"));
  EXPECT_FALSE(rows[1].contains("kept")) << "no objective";
  EXPECT_EQ(rows[1]["met_ratio"], 0.4);
}

TEST_F(ReportTest, OfOneCustomerSinceThenByTheHour) {
  keep(kNoon - 1, {minute_of("acme", 5, 5)});
  keep(kNoon + 59, {minute_of("acme", 60, 60), minute_of("globex", 1, 1)});
  keep(kNoon + 60, {minute_of("acme", 30, 30)});
  const Json rows = Json::parse(
      text({.customer = "acme", .since = kNoon, .hours = true, .format = ReportRequest::Format::json}));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["demanding_seconds"], 60);
  EXPECT_EQ(rows[1]["demanding_seconds"], 30);
  EXPECT_EQ(rows[1]["from"], "2025-11-24T17:00Z");
}

// A clock that was ahead, until a router that runs removes the file.
TEST_F(ReportTest, WhatIsLaterThanNowIsLeftOutAndSaid) {
  keep(kNoon + 40 * 60, {minute_of("acme", 60, 0)});
  fs::copy_file(all_ / "edge" / files()[0], all_ / "ahead");
  keep(kNoon, {minute_of("acme", 60, 60)});
  fs::rename(all_ / "ahead", all_ / "edge/2025-11-26T08.jsonl");
  ASSERT_EQ(files().size(), 2u);
  const ReportRequest now{.since = kNoon, .until = kNoon + 60, .format = ReportRequest::Format::csv};
  EXPECT_THAT(text(now), testing::AllOf(HasSubstr("2025-11-24T16:01Z"), testing::Not(HasSubstr("2025-11-26")),
                                        HasSubstr("omitted 1 rows of ")));
  EXPECT_EQ(status_, 0);
}

TEST_F(ReportTest, AFifoAmongItsFilesStopsNobody) {
  keep(kNoon, {minute_of("acme", 60, 60)});
  ASSERT_EQ(files().size(), 1U);
  ::alarm(60);  // a FIFO that is opened stops whoever opens it
  ASSERT_EQ(::mkfifo((all_ / "edge/2099-01-01T00.jsonl").c_str(), 0600), 0);
  fs::create_symlink("/dev/zero", all_ / "edge/2099-01-01T01.jsonl");
  EXPECT_EQ(Json::parse(text({.format = ReportRequest::Format::json})).size(), 1U);
  const fs::path file = all_ / "edge" / files().front();
  fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  keep(kNoon, {minute_of("globex", 60, 60)});
  EXPECT_EQ(Json::parse(text({.format = ReportRequest::Format::json})).size(), 0U);
  ::alarm(0);
}

TEST_F(ReportTest, ForPeopleItSaysWhetherTheObjectiveWasMet) {
  keep(kNoon, {minute_of("acme", 100, 99), minute_of("globex", 100, 98)});
  const std::string table = text();
  EXPECT_EQ(status_, 0);
  EXPECT_THAT(table, HasSubstr("acme"));
  EXPECT_THAT(table, HasSubstr("99.00 %     99.0 %  conforms         up\n"));
  EXPECT_THAT(table, HasSubstr("98.00 %     99.0 %  BELOW OBJECTIVE  up\n"));
}

TEST_F(ReportTest, NamesMayBeAnything) {
  const std::string name = "a,\"b\"\n\xf0\x9f\x98\x80\xff" + std::string(10'000, 'x');
  keep(kNoon, {minute_of(name, 60, 60)});
  const std::string csv = text({.format = ReportRequest::Format::csv});
  EXPECT_THAT(csv, HasSubstr("\r\n\"a,\"\"b\"\"\n\xf0\x9f\x98\x80"));
  const Json rows = Json::parse(text({.format = ReportRequest::Format::json}));
  EXPECT_EQ(rows.size(), 1u);
}

// Releases up to 0.1.0 wrote no held back seconds.
TEST_F(ReportTest, ARecordWithoutHeldBackSecondsIsRead) {
  fs::create_directories(all_ / "edge");
  std::ofstream(all_ / "edge/2025-11-24T16.jsonl")
      << "[\"n\",0,\"acme\",\"gold\",\"acme.1\",0.99]\n[29400000,0,1000000,600,420,120,3,4,60,57]\n";
  const Json rows = Json::parse(text({.format = ReportRequest::Format::json}));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["met_seconds"], 57);
  EXPECT_EQ(rows[0]["held_back_seconds"], 0);
}

TEST_F(ReportTest, SaysWhereNothingIsKept) {
  EXPECT_THAT(text(), HasSubstr("no router has kept records in "));
  EXPECT_EQ(status_, 1);
  fs::create_directories(all_ / "a");
  fs::create_directories(all_ / "b");
  EXPECT_THAT(text(), HasSubstr("choose one of a, b with --name"));
  EXPECT_THAT(text({.router = "c"}), HasSubstr("surety report: "));
  EXPECT_EQ(status_, 1);
}

}  // namespace
}  // namespace surety
