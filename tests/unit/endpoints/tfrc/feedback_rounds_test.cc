// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tfrc/feedback_rounds.h"

#include <gtest/gtest.h>

namespace surety::endpoints {
namespace {

using namespace literals;

constexpr Time kStart = Time(1000s);

TEST(FeedbackRounds, FeedbackIsDueOncePerRoundTripOfTheCounter) {
  FeedbackRounds r;
  EXPECT_TRUE(r.on_data(3, false, kStart)) << "the first packet";
  EXPECT_FALSE(r.on_data(6, false, kStart + 30ms));
  EXPECT_TRUE(r.on_data(7, false, kStart + 40ms));
  EXPECT_EQ(r.rtt(), 0s) << "the first round began in the middle of a value";
  EXPECT_TRUE(r.on_data(11, false, kStart + 90ms));
  EXPECT_EQ(r.rtt(), 50ms);
  EXPECT_TRUE(r.on_data(15, false, kStart + 180ms));
  EXPECT_EQ(r.rtt(), (50ms * 7 + 90ms) / 8);
}

TEST(FeedbackRounds, APauseIsNoSample) {
  FeedbackRounds r;
  r.on_handshake(20ms);
  r.on_data(0, false, kStart);
  r.on_data(4, false, kStart + 20ms);
  EXPECT_TRUE(r.on_data(9, false, kStart + 10s)) << "five quarters";
  EXPECT_EQ(r.rtt(), 20ms);
}

TEST(FeedbackRounds, ASenderWithoutFeedbackGetsItEveryRoundTrip) {
  FeedbackRounds r;
  r.on_handshake(20ms);
  r.on_data(0, true, kStart);
  r.on_feedback(kStart);
  EXPECT_FALSE(r.on_data(0, true, kStart + 19ms));
  EXPECT_TRUE(r.on_data(0, true, kStart + 20ms));
}

}  // namespace
}  // namespace surety::endpoints
