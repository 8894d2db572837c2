// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/rto.h"

#include <gtest/gtest.h>

namespace surety::endpoints {
namespace {

using namespace literals;

constexpr RtoParams kUnbounded{.min = 1ms, .max = 60s, .granularity = 1ms};

RttEstimator after(std::initializer_list<Duration> samples) {
  RttEstimator e;
  for (const Duration r : samples) e.on_sample(r);
  return e;
}

TEST(RetransmissionTimeout, IsASecondBeforeTheFirstSample) {
  EXPECT_EQ(RetransmissionTimeout().value(kUnbounded, {}), 1s);
  EXPECT_EQ(RetransmissionTimeout().value({.min = 2s}, {}), 2s);
  EXPECT_EQ(RetransmissionTimeout().value({.min = 1ms, .max = 500ms}, {}), 500ms);
}

// RFC 6298 2.2 and 2.3: SRTT + max(G, 4 RTTVAR).
TEST(RetransmissionTimeout, IsTheEstimateAndFourVariations) {
  EXPECT_EQ(RetransmissionTimeout().value(kUnbounded, after({100ms})), 300ms);
  EXPECT_EQ(RetransmissionTimeout().value(kUnbounded, after({100ms, 180ms})), 340ms);  // 110 + 4 * 57.5
}

TEST(RetransmissionTimeout, TheClocksGranularityIsTheLeastVariation) {
  RttEstimator e;
  for (int i = 0; i < 200; ++i) e.on_sample(40ms);
  EXPECT_EQ(RetransmissionTimeout().value(kUnbounded, e), 41ms);
  EXPECT_EQ(RetransmissionTimeout().value({.min = 1ms, .granularity = 500ms}, e), 540ms);
}

TEST(RetransmissionTimeout, StaysWithinItsBounds) {
  EXPECT_EQ(RetransmissionTimeout().value({}, after({10ms})), 1s) << "RFC 6298 2.4";
  EXPECT_EQ(RetransmissionTimeout().value({}, after({100s})), 60s) << "RFC 6298 2.5";
}

TEST(RetransmissionTimeout, EachBackoffDoublesItUpToTheMost) {
  RetransmissionTimeout t;
  const RttEstimator e = after({1s});  // 3 s
  std::vector<Duration> values;
  for (int i = 0; i < 7; ++i) {
    values.push_back(t.value({}, e));
    t.backoff();
  }
  EXPECT_EQ(values, (std::vector<Duration>{3s, 6s, 12s, 24s, 48s, 60s, 60s}));
  for (int i = 0; i < 1000; ++i) t.backoff();
  EXPECT_EQ(t.value({}, e), 60s);
  EXPECT_EQ(t.value({.max = 24h * 365}, e), 24h * 365);
}

TEST(RetransmissionTimeout, ANewSampleEndsTheBackoff) {
  RetransmissionTimeout t;
  t.backoff();
  t.backoff();
  t.reset();
  EXPECT_EQ(t.value({}, after({1s})), 3s);
}

// RFC 6298 5.7.
TEST(RetransmissionTimeout, IsThreeSecondsAfterALostSyn) {
  RetransmissionTimeout t;
  t.on_syn_lost();
  EXPECT_EQ(t.value({}, {}), 3s);
  EXPECT_EQ(t.value({}, after({10ms})), 1s) << "a sample is worth more";
}

TEST(RetransmissionTimeout, FineClocksExpireExactly) {
  const Time now(12'345'678ns);
  EXPECT_EQ(RetransmissionTimeout::expiry({}, now, 1s, {}), now + 1s);
  EXPECT_EQ(RetransmissionTimeout::expiry({.granularity = 10us}, now, 1s, {}), now + 1s);
}

// CSA paper: ticks of 500 ms. Never early, late by less than a tick.
TEST(RetransmissionTimeout, CoarseClocksExpireOnTheNextTick) {
  constexpr Time kTick(7s);
  const RtoParams bsd{.granularity = 500ms};
  EXPECT_EQ(RetransmissionTimeout::expiry(bsd, Time(10s), 1s, kTick), Time(11s));
  EXPECT_EQ(RetransmissionTimeout::expiry(bsd, Time(10s + 1ns), 1s, kTick), Time(11'500ms));
  EXPECT_EQ(RetransmissionTimeout::expiry(bsd, Time(10'499ms), 1s, kTick), Time(11'500ms));
  EXPECT_EQ(RetransmissionTimeout::expiry(bsd, Time(10'500ms), 1'200ms, kTick), Time(12s));
}

// Two hosts' clocks tick at different moments.
TEST(RetransmissionTimeout, TicksAreCountedFromAnEarlierOne) {
  const RtoParams bsd{.granularity = 500ms};
  EXPECT_EQ(RetransmissionTimeout::expiry(bsd, Time(10s), 1s, Time(300ms)), Time(11'300ms));
  EXPECT_EQ(RetransmissionTimeout::expiry(bsd, Time(10s + 300ms), 1s, Time(300ms)), Time(11'300ms));
  EXPECT_EQ(RetransmissionTimeout::expiry(bsd, Time(10s + 301ms), 1s, Time(9'800ms)), Time(11'800ms));
}

using namespace literals;

TEST(RttEstimator, KnowsNothingBeforeTheFirstSample) {
  const RttEstimator e;
  EXPECT_FALSE(e.known());
  EXPECT_EQ(e.smoothed(), 0ns);
  EXPECT_EQ(e.variation(), 0ns);
  EXPECT_EQ(e.least(), 0ns);
}

// RFC 6298 2.2: SRTT = R, RTTVAR = R / 2.
TEST(RttEstimator, TheFirstSampleIsTheEstimate) {
  RttEstimator e;
  e.on_sample(100ms);
  EXPECT_TRUE(e.known());
  EXPECT_EQ(e.smoothed(), 100ms);
  EXPECT_EQ(e.variation(), 50ms);
  EXPECT_EQ(e.least(), 100ms);
}

// RFC 6298 2.3, by hand: RTTVAR is computed first, with the old SRTT.
TEST(RttEstimator, LaterSamplesMoveItByAnEighthAndAQuarter) {
  RttEstimator e;
  e.on_sample(100ms);
  e.on_sample(180ms);
  EXPECT_EQ(e.variation(), 57'500us);  // 0.75 * 50 + 0.25 * |100 - 180|
  EXPECT_EQ(e.smoothed(), 110ms);      // 0.875 * 100 + 0.125 * 180
  e.on_sample(30ms);
  EXPECT_EQ(e.variation(), 63'125us);  // 0.75 * 57.5 + 0.25 * |110 - 30|
  EXPECT_EQ(e.smoothed(), 100ms);      // 0.875 * 110 + 0.125 * 30
}

TEST(RttEstimator, ConstantSamplesBringTheVariationDown) {
  RttEstimator e;
  for (int i = 0; i < 200; ++i) e.on_sample(40ms);
  EXPECT_EQ(e.smoothed(), 40ms);
  EXPECT_LE(e.variation(), 3ns);
}

TEST(RttEstimator, TheLeastNeverGrows) {
  RttEstimator e;
  e.on_sample(50ms);
  e.on_sample(20ms);
  e.on_sample(90ms);
  EXPECT_EQ(e.least(), 20ms);
}

TEST(RttEstimator, FurtherSamplesCountForTheLeastOnly) {
  RttEstimator e;
  e.on_sample(50ms);
  e.on_further_sample(49ms);
  e.on_further_sample(500ms);
  EXPECT_EQ(e.least(), 49ms);
  EXPECT_EQ(e.smoothed(), 50ms);
  EXPECT_EQ(e.variation(), 25ms);
}

TEST(RttEstimator, AFurtherSampleAloneIsNoEstimate) {
  RttEstimator e;
  e.on_further_sample(49ms);
  EXPECT_FALSE(e.known());
  EXPECT_EQ(e.least(), 49ms);
  e.on_sample(60ms);
  EXPECT_EQ(e.variation(), 30ms) << "the first full sample is still the first";
  EXPECT_EQ(e.least(), 49ms);
}

TEST(RttEstimator, NothingTakesNoTime) {
  for (const Duration r : {0ns, -5ns, Duration(-1'000'000'000)}) {
    RttEstimator e;
    e.on_sample(r);
    EXPECT_TRUE(e.known());
    EXPECT_EQ(e.smoothed(), 1ns);
    EXPECT_EQ(e.least(), 1ns);
  }
}

}  // namespace
}  // namespace surety::endpoints
