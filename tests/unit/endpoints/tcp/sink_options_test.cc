// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/sink_options.h"

#include <gtest/gtest.h>

namespace surety::endpoints {
namespace {

using namespace literals;

SinkParams window_of(std::uint64_t bytes) {
  SinkParams p;
  p.window = Bytes(bytes);
  return p;
}

TEST(SinkOptions, TheWindowIsWhatTheFieldSays) {
  tcp::Segment syn;
  EXPECT_EQ(SinkOptions(window_of(4'000'000), false, syn).window(), 65535u) << "a peer that does not scale";
  syn.window_scale = std::uint8_t{7};
  const SinkOptions scaled(window_of(4'000'000), false, syn);
  EXPECT_EQ(scaled.window(), 4'000'000u >> 6 << 6);
  EXPECT_EQ(scaled.window_field(), 4'000'000u >> 6);
  tcp::Segment ours;
  scaled.put(ours);
  EXPECT_EQ(ours.window, 65535) << "a SYN's is never scaled";
  EXPECT_EQ(ours.window_scale, std::uint8_t{6});
  tcp::Segment theirs;
  theirs.window = 100;
  EXPECT_EQ(scaled.peer_window(theirs), 12'800u);
}

TEST(SinkOptions, SegmentsFitBothEnds) {
  tcp::Segment syn;
  EXPECT_EQ(SinkOptions({}, false, syn).segment(), 536);
  EXPECT_EQ(SinkOptions({}, true, syn).segment(), 1220);
  syn.mss = std::uint16_t{9000};
  EXPECT_EQ(SinkOptions({}, false, syn).segment(), 1460);
  syn.timestamps = tcp::Timestamps{1, 0};
  EXPECT_EQ(SinkOptions({}, false, syn).segment(), 1448);
  syn.mss = std::uint16_t{1};
  EXPECT_EQ(SinkOptions({}, false, syn).segment(), 64 - 12);
}

TEST(TimestampEcho, RefusesOlderOnesAndEchoesTheNewest) {
  tcp::Segment s;
  s.timestamps = tcp::Timestamps{100, 0};
  TimestampEcho echo(s, 5000);
  ASSERT_TRUE(echo.on());
  s.sequence = 10;
  s.timestamps->value = 99;
  EXPECT_TRUE(echo.outdated(s));
  s.timestamps->value = 120;
  EXPECT_FALSE(echo.outdated(s));
  echo.note(s, 9);
  tcp::Segment ours;
  echo.put(ours, Time(2s));
  EXPECT_EQ(ours.timestamps->echo, 100u) << "a segment behind a hole";
  EXPECT_EQ(ours.timestamps->value, 7000u);
  echo.note(s, 10);
  echo.put(ours, Time(2s));
  EXPECT_EQ(ours.timestamps->echo, 120u);
  EXPECT_TRUE(echo.missing(tcp::Segment{}));
}

TEST(TimestampEcho, IsOffForAPeerWithoutThem) {
  const TimestampEcho echo(tcp::Segment{}, 5000);
  tcp::Segment s;
  EXPECT_FALSE(echo.missing(s));
  EXPECT_FALSE(echo.outdated(s));
  echo.put(s, Time(1s));
  EXPECT_FALSE(s.timestamps);
}

}  // namespace
}  // namespace surety::endpoints
