// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/rtt.h"

#include <gtest/gtest.h>

namespace surety::endpoints {
namespace {

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
