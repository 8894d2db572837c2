// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/rtt_timing.h"

#include <gtest/gtest.h>

namespace surety::endpoints {
namespace {

using namespace literals;

constexpr Time kStart(100s);

RttTiming timing() {
  return RttTiming(0xffff'fff0, kStart);  // the timestamps wrap soon
}

TEST(RttTiming, WithoutTimestampsOneSegmentAtATimeIsTimed) {
  RttTiming t = timing();
  t.on_sent(1000, false, kStart);
  t.on_sent(2000, false, kStart + 50ms);
  EXPECT_FALSE(t.on_ack(999, {}, kStart + 80ms));
  EXPECT_TRUE(t.on_ack(1000, {}, kStart + 100ms));
  EXPECT_EQ(t.estimate().smoothed(), 100ms);
  EXPECT_FALSE(t.on_ack(2000, {}, kStart + 900ms)) << "nobody timed it";
  EXPECT_EQ(t.estimate().smoothed(), 100ms);
  t.on_sent(3000, false, kStart + 1s);
  EXPECT_TRUE(t.on_ack(4000, {}, kStart + 1s + 20ms)) << "an ACK of more is one too";
  EXPECT_EQ(t.estimate().least(), 20ms);
}

// Karn's algorithm.
TEST(RttTiming, AnAckOfWhatWasSentTwiceIsNoSample) {
  RttTiming t = timing();
  t.on_sent(1000, false, kStart);
  t.on_sent(500, true, kStart + 10ms);
  EXPECT_FALSE(t.on_ack(1000, {}, kStart + 100ms)) << "the timed one waited for it, perhaps";
  t.on_sent(2000, false, kStart + 200ms);
  t.on_sent(2000, true, kStart + 250ms);
  EXPECT_FALSE(t.on_ack(2000, {}, kStart + 300ms));
  EXPECT_FALSE(t.estimate().known());
}

// RFC 6298 3: it is those segments that must not be timed, no others.
TEST(RttTiming, ARetransmissionSpoilsNoOtherSample) {
  RttTiming t = timing();
  t.on_sent(5000, false, kStart);
  t.on_sent(1000, true, kStart + 10ms);
  EXPECT_FALSE(t.on_ack(4000, {}, kStart + 50ms));
  EXPECT_TRUE(t.on_ack(5000, {}, kStart + 80ms));
  EXPECT_EQ(t.estimate().smoothed(), 80ms);
}

TEST(RttTiming, KnowsWhetherAnAckIsOfDataThatWasSentOnce) {
  RttTiming t = timing();
  EXPECT_TRUE(t.sent_once(1));
  t.on_sent(1000, true, kStart);
  EXPECT_FALSE(t.sent_once(1000));
  EXPECT_TRUE(t.sent_once(1001));
}

TEST(RttTiming, AnEchoMeasuresEveryAck) {
  RttTiming t = timing();
  t.on_sent(1000, false, kStart);
  const std::uint32_t sent = t.timestamp(kStart);
  const Time later = kStart + 100 * RttTiming::kTick;
  EXPECT_EQ(t.timestamp(later) - sent, 100u);
  EXPECT_TRUE(t.on_ack(1000, sent, later));
  EXPECT_EQ(t.estimate().smoothed(), 100 * RttTiming::kTick);
  t.on_sent(2000, false, later);
  t.on_sent(3000, false, later);
  EXPECT_TRUE(t.on_ack(2000, t.timestamp(later), later + 80 * RttTiming::kTick));
}

// RFC 7323 4.2: SRTT moves once a round trip; the least takes every sample.
TEST(RttTiming, OfManyEchoesSrttTakesOneARoundTrip) {
  RttTiming t = timing();
  const auto after = [](int ticks) { return kStart + ticks * RttTiming::kTick; };
  t.on_sent(1, false, kStart);
  EXPECT_TRUE(t.on_ack(1, t.timestamp(kStart), after(100)));
  t.on_sent(2000, false, after(100));
  EXPECT_FALSE(t.on_ack(1500, t.timestamp(after(100)), after(160)));
  EXPECT_EQ(t.estimate().smoothed(), 100 * RttTiming::kTick);
  EXPECT_EQ(t.estimate().least(), 60 * RttTiming::kTick);
  EXPECT_TRUE(t.on_ack(2000, t.timestamp(after(100)), after(200)));
}

TEST(RttTiming, EchoesOfWhatWasNeverSaidAreNoSamples) {
  RttTiming t = timing();
  const Time now = kStart + 1s;
  EXPECT_FALSE(t.on_ack(1, t.timestamp(now) + 1, now)) << "the future";
  EXPECT_FALSE(t.on_ack(1, t.timestamp(kStart) - 2, now)) << "before the start";
  EXPECT_FALSE(t.estimate().known());
  EXPECT_TRUE(t.on_ack(1, t.timestamp(kStart), now));
}

TEST(RttTiming, AnEchoFromBeforeATimeoutIsNoSample) {
  RttTiming t = timing();
  t.on_timeout(kStart + 1s);
  EXPECT_FALSE(t.on_ack(1000, t.timestamp(kStart), kStart + 1s + 50ms));
  EXPECT_TRUE(t.on_ack(1000, t.timestamp(kStart + 1s), kStart + 1s + 50ms));
}

}  // namespace
}  // namespace surety::endpoints
