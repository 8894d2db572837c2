// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tfrc/receive_rate.h"

#include <gtest/gtest.h>

namespace surety::endpoints {
namespace {

using namespace literals;

constexpr Time kStart = Time(1000s);
constexpr double kUnlimited = ReceiveRateSet::kUnlimited;

TEST(ReceiveRate, FirstPacketHasNoRateAndItsBytesAreNotOfTheNextWindow) {
  ReceiveRate r;
  EXPECT_EQ(r.feedback(kStart, 100ms), 0);
  r.on_packet(1000, kStart);
  EXPECT_EQ(r.bytes(), 1000u);
  EXPECT_EQ(r.feedback(kStart, Duration::zero()), 0);
  EXPECT_EQ(r.bytes(), 0u);
  r.on_packet(500, kStart + 50ms);
  EXPECT_DOUBLE_EQ(r.feedback(kStart + 50ms, 100ms), 10'000);
}

TEST(ReceiveRate, OverTheTimeSinceTheLastFeedback) {
  ReceiveRate r;
  r.on_packet(1000, kStart);
  r.feedback(kStart, Duration::zero());
  for (int i = 1; i <= 10; ++i) r.on_packet(1000, kStart + i * 10ms);
  EXPECT_DOUBLE_EQ(r.feedback(kStart + 100ms, 100ms), 100'000);
  r.on_packet(3000, kStart + 150ms);
  EXPECT_EQ(r.bytes(), 3000u);
  EXPECT_DOUBLE_EQ(r.feedback(kStart + 400ms, 100ms), 10'000);  // longer than a round trip
  EXPECT_DOUBLE_EQ(r.feedback(kStart + 500ms, 100ms), 0);
}

TEST(ReceiveRate, FeedbackWithinARoundTripTakesTheWindowBeforeIn) {
  ReceiveRate r;
  r.on_packet(1000, kStart);
  r.feedback(kStart, Duration::zero());
  r.on_packet(10'000, kStart + 100ms);
  EXPECT_DOUBLE_EQ(r.feedback(kStart + 100ms, 100ms), 100'000);
  r.on_packet(6000, kStart + 120ms);  // alone: 300 kB/s, a burst
  EXPECT_DOUBLE_EQ(r.feedback(kStart + 120ms, 100ms), 16'000 / 0.12);
  r.on_packet(2000, kStart + 150ms);
  EXPECT_DOUBLE_EQ(r.feedback(kStart + 150ms, 100ms), 18'000 / 0.15);
  r.on_packet(4000, kStart + 250ms);  // a whole round trip stands alone again
  EXPECT_DOUBLE_EQ(r.feedback(kStart + 250ms, 100ms), 40'000);
}

TEST(ReceiveRate, FeedbackThatIsAlwaysTooEarlyDoesNotLookBackForEver) {
  ReceiveRate r;
  r.on_packet(1000, kStart);
  r.feedback(kStart, Duration::zero());
  Time now = kStart;
  const auto run = [&](int windows, std::uint32_t bytes) {
    double rate = 0;
    for (int i = 0; i < windows; ++i) {
      now += 90ms;
      r.on_packet(bytes, now);
      rate = r.feedback(now, 100ms);
    }
    return rate;
  };
  EXPECT_DOUBLE_EQ(run(100, 9000), 100'000);
  EXPECT_DOUBLE_EQ(run(4, 900), 10'000);  // 360 ms later nothing of the past is left
}

TEST(ReceiveRateSet, BeginsUnlimitedForTwoRoundTrips) {
  ReceiveRateSet set(kStart);
  EXPECT_EQ(set.max(), kUnlimited);
  set.update(10, kStart + 100ms, 200ms);
  EXPECT_EQ(set.max(), kUnlimited);
  set.update(20, kStart + 200ms, 200ms);
  EXPECT_EQ(set.max(), kUnlimited);
  set.update(15, kStart + 201ms, 200ms);
  EXPECT_EQ(set.max(), 20);
}

TEST(ReceiveRateSet, ForgetsWhatIsOlderThanTwoRoundTrips) {
  ReceiveRateSet set(kStart);
  set.replace(100, kStart);
  set.update(50, kStart + 100ms, 200ms);
  set.update(60, kStart + 200ms, 200ms);
  EXPECT_EQ(set.size(), 3u);
  EXPECT_EQ(set.max(), 100);
  set.update(40, kStart + 300ms, 200ms);
  EXPECT_EQ(set.size(), 3u);
  EXPECT_EQ(set.max(), 60);
}

TEST(ReceiveRateSet, KeepsTheLargestWhenReportsCrowd) {
  ReceiveRateSet set(kStart);
  set.replace(100, kStart);
  for (int i = 1; i <= 10; ++i) {
    set.update(i, kStart + i * 1ms, 200ms);
    EXPECT_EQ(set.max(), 100) << i;
  }
  EXPECT_EQ(set.size(), 4u);
  set.update(5, kStart + 201ms, 200ms);
  EXPECT_EQ(set.max(), 10);
}

TEST(ReceiveRateSet, MaximizeKeepsTheLargestAsOfNow) {
  ReceiveRateSet set(kStart);
  set.replace(100, kStart);
  set.update(70, kStart + 100ms, 200ms);
  set.maximize(30, kStart + 190ms);
  EXPECT_EQ(set.size(), 1u);
  EXPECT_EQ(set.max(), 100);
  set.update(1, kStart + 390ms, 200ms);
  EXPECT_EQ(set.max(), 100);
  set.update(1, kStart + 391ms, 200ms);
  EXPECT_EQ(set.max(), 1);
}

TEST(ReceiveRateSet, MaximizeDropsInfinity) {
  ReceiveRateSet set(kStart);
  set.halve();
  EXPECT_EQ(set.max(), kUnlimited);
  set.maximize(30, kStart);
  EXPECT_EQ(set.max(), 30);
}

TEST(ReceiveRateSet, HalvesEveryItem) {
  ReceiveRateSet set(kStart);
  set.replace(100, kStart);
  set.update(60, kStart + 100ms, 200ms);
  set.halve();
  EXPECT_EQ(set.max(), 50);
  set.update(1, kStart + 201ms, 200ms);
  EXPECT_EQ(set.max(), 30);
}

}  // namespace
}  // namespace surety::endpoints
