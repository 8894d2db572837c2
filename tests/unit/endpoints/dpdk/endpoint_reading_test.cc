// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/dpdk/endpoint_reading.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/endpoints/dpdk/sample_endpoint_reading.h"

namespace surety::endpoints {
namespace {

TEST(LiveTable, ARowPerSenderAndSink) {
  // clang-format off
  EXPECT_EQ(live_text(test::sample_endpoint_reading(), 24),
"1 min 1 s; 4 packets refused\n"
"name    protocol   flows                                          target   delivered  of target     RoS    RTT   lost       p  repeated\n"
"camera  gtfrc      1 connecting, 2 open, 1 closed (1 failed)  800 kbit/s  780 kbit/s     97.5 %  75.0 %  40 ms  1.0 %  0.0125\n"
"web     newreno    10 idle                                                   0 bit/s                                                  3\n"
"p0      dccp sink  2 open                                                  48 kbit/s                            3.8 %\n");
  // clang-format on
}

TEST(LiveTable, NothingRefusedIsNotSaid) {
  EndpointReading r = test::sample_endpoint_reading();
  r.ports.clear();
  EXPECT_TRUE(live_text(r, 24).starts_with("1 min 1 s\nname"));
}

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(LiveTable, ShowsAllRowsThatFit) {
  EXPECT_EQ(lines(live_text(test::sample_endpoint_reading(), 5)), 5u);
}

TEST(LiveTable, LeavesOutWhatDoesNotFitAndSaysSo) {
  const std::string text = live_text(test::sample_endpoint_reading(), 4);
  EXPECT_EQ(lines(text), 4u);
  EXPECT_TRUE(text.ends_with("... and 2 more; all are in the report\n")) << text;
  EXPECT_EQ(text.find("\nweb"), std::string::npos);
}

TEST(LiveTable, ShowsOneRowInTheSmallestTerminal) {
  EXPECT_EQ(lines(live_text(test::sample_endpoint_reading(), 0)), 4u);
}

TEST(LiveTable, DrawsOverTheLastOne) {
  LiveTable table;
  EXPECT_EQ(table.draw("one\ntwo\n"), "one\ntwo\n");
  EXPECT_EQ(table.draw("three\n"), "\x1b[2A\r\x1b[Jthree\n");
  EXPECT_EQ(table.draw("four\n"), "\x1b[1A\r\x1b[Jfour\n");
}

TEST(Clipped, CutsLinesNotTheirEnds) {
  EXPECT_EQ(clipped("abcdef\nab\n\nabc", 3), "abc\nab\n\nabc");
}

}  // namespace
}  // namespace surety::endpoints
