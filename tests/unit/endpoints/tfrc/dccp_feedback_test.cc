// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tfrc/dccp_feedback.h"

#include <gtest/gtest.h>

#include <vector>

namespace surety::endpoints::dccp {
namespace {

Feedback round_trip(const Feedback& f) {
  std::uint8_t out[kFeedbackBytes];
  OptionWriter w(out);
  write_feedback(w, f);
  const std::size_t n = w.finish();
  EXPECT_LE(n, kFeedbackBytes);
  return read_feedback(std::span(out).first(n));
}

TEST(DccpFeedback, ComesBackAsItWas) {
  Feedback f;
  f.timestamp_echo = 0xfedcba98;
  f.elapsed = 70'000;
  f.receive_rate = 125'000;
  f.loss_event_rate = 0.01;
  f.skip = 2;
  f.interval_count = 9;
  for (std::uint64_t i = 0; i < 9; ++i) f.intervals[i] = {100 + i, i};
  const Feedback g = round_trip(f);
  EXPECT_EQ(g.timestamp_echo, f.timestamp_echo);
  EXPECT_EQ(g.elapsed, 70'000u);
  EXPECT_EQ(g.receive_rate, 125'000.0);
  EXPECT_EQ(g.loss_event_rate, 0.01);
  EXPECT_EQ(g.skip, 2);
  ASSERT_EQ(g.interval_count, 9u);
  for (std::uint64_t i = 0; i < 9; ++i) {
    EXPECT_EQ(g.intervals[i].lossless, 100 + i);
    EXPECT_EQ(g.intervals[i].loss, i);
  }
}

TEST(DccpFeedback, LossEventRateIsInvertedAndRoundedUp) {
  const auto sent = [](double p) {
    Feedback f;
    f.loss_event_rate = p;
    return *round_trip(f).loss_event_rate;
  };
  EXPECT_EQ(sent(0), 0.0);
  EXPECT_EQ(sent(1), 1.0);
  EXPECT_EQ(sent(0.3), 0.25);   // 3.33 packets become 4
  EXPECT_EQ(sent(2), 1.0);      // never less than one packet
  EXPECT_GT(sent(1e-12), 0.0);  // the least there is, not none
  const std::vector<std::uint8_t> zero{192, 6, 0, 0, 0, 0};
  EXPECT_EQ(read_feedback(zero).loss_event_rate, 1.0);
}

TEST(DccpFeedback, FieldsSaturate) {
  Feedback f;
  f.receive_rate = 1e12;
  f.interval_count = 1;
  f.intervals[0] = {std::uint64_t{1} << 40, std::uint64_t{1} << 41};
  const Feedback g = round_trip(f);
  EXPECT_EQ(g.receive_rate, 4294967295.0);
  EXPECT_EQ(g.intervals[0].lossless, 0xff'ffffu);
  EXPECT_EQ(g.intervals[0].loss, 0x7f'ffffu);
}

TEST(DccpFeedback, WithoutTimestampTheElapsedTimeStandsAlone) {
  Feedback f;
  f.elapsed = 1234;
  const Feedback g = round_trip(f);
  EXPECT_EQ(g.timestamp_echo, std::nullopt);
  EXPECT_EQ(g.elapsed, 1234u);
}

TEST(DccpFeedback, ShortFormsOfTimes) {
  const std::vector<std::uint8_t> bare{42, 6, 0, 0, 0, 9}, two{42, 8, 0, 0, 0, 9, 1, 0}, elapsed{43, 4, 2, 0};
  EXPECT_EQ(read_feedback(bare).timestamp_echo, 9u);
  EXPECT_EQ(read_feedback(bare).elapsed, 0u);
  EXPECT_EQ(read_feedback(two).elapsed, 256u);
  EXPECT_EQ(read_feedback(elapsed).elapsed, 512u);
}

TEST(DccpFeedback, LossEventRateFromTheIntervals) {
  Feedback f;
  EXPECT_EQ(loss_event_rate(f), 0.0);
  f.interval_count = 1;
  f.intervals[0] = {500, 0};
  EXPECT_EQ(loss_event_rate(f), 0.0);  // no loss yet
  f.interval_count = 9;
  for (auto& i : f.intervals) i = {99, 1};
  EXPECT_NEAR(loss_event_rate(f), 0.01, 1e-12);
  // The weights of RFC 5348 5.4 over I_1 .. I_8 = 100, 200, 300, 400, 500, 600, 700, 800 and a short I_0:
  // (100 + 200 + 300 + 400 + 0.8*500 + 0.6*600 + 0.4*700 + 0.2*800) / 6 = 2200 / 6.
  f.intervals[0] = {1, 0};
  for (std::uint64_t i = 1; i < 9; ++i) f.intervals[i] = {100 * i - 1, 1};
  EXPECT_NEAR(loss_event_rate(f), 6.0 / 2200, 1e-12);
  f.loss_event_rate = 0.5;  // what the receiver says goes first
  EXPECT_EQ(loss_event_rate(f), 0.5);
}

TEST(LossAccount, CountsEveryLossOnce) {
  LossAccount a;
  Feedback f;
  f.interval_count = 1;
  f.intervals[0] = {1000, 0};
  EXPECT_FALSE(a.on_feedback(10'000, f));
  // 10051 and 10052 lost, 48 packets since.
  f.interval_count = 2;
  f.intervals = {{{48, 2}, {1050, 0}}};
  EXPECT_TRUE(a.on_feedback(10'100, f));
  EXPECT_EQ(a.lost(), 2u);
  EXPECT_EQ(a.events(), 1u);
  // The event's lossy part has grown to 10051 .. 10055, and goes on counting once.
  f.intervals = {{{145, 5}, {1050, 0}}};
  EXPECT_FALSE(a.on_feedback(10'200, f));
  EXPECT_EQ(a.lost(), 5u);
  // One report was missed: two more events since.
  f.interval_count = 4;
  f.intervals = {{{10, 1}, {20, 3}, {111, 5}, {1050, 0}}};
  EXPECT_TRUE(a.on_feedback(10'200, f));
  EXPECT_EQ(a.lost(), 9u);
  EXPECT_EQ(a.events(), 3u);
  EXPECT_FALSE(a.on_feedback(10'200, f));
  EXPECT_EQ(a.lost(), 9u);
}

TEST(LossAccount, StopsAtALengthThatDidNotFit) {
  LossAccount a;
  Feedback f;
  f.interval_count = 2;
  f.intervals = {{{0xff'ffff, 7}, {100, 3}}};
  EXPECT_FALSE(a.on_feedback(1'000'000'000, f));
  EXPECT_EQ(a.lost(), 0u);
}

}  // namespace
}  // namespace surety::endpoints::dccp
