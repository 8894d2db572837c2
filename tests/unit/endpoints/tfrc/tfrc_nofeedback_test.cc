// SPDX-License-Identifier: BSD-3-Clause
// The nofeedback timer of tfrc.h: RFC 5348 4.4, case by case.
#include <gtest/gtest.h>

#include "tests/unit/endpoints/tfrc/tfrc_flow.h"

namespace surety::endpoints {
namespace {

using namespace literals;
using Flow = TfrcFlow;

TEST(TfrcNofeedback, BeforeAnyFeedbackTheRateIsHalved) {
  Flow f;
  f.send_until(kStart);
  f.expire();
  EXPECT_EQ(f.now, kStart + 2s);
  EXPECT_DOUBLE_EQ(f.x(), 500);
  EXPECT_EQ(f.limited_by(), LimitedBy::no_feedback);
  EXPECT_EQ(f.sender.nofeedback_timer(), f.now + 4s);
  for (int i = 0; i < 10; ++i) {
    f.send_until(f.sender.nofeedback_timer());
    f.expire();
  }
  EXPECT_DOUBLE_EQ(f.x(), 15.625);
  EXPECT_EQ(f.reading().timeouts, 11u);
}

TEST(TfrcNofeedback, IdleBeforeAnyFeedbackChangesNothing) {
  Flow f;
  f.send_until(kStart);
  f.expire();
  f.expire();  // nothing was sent since the last one
  EXPECT_DOUBLE_EQ(f.x(), 500);
  EXPECT_EQ(f.reading().timeouts, 1u);
}

TEST(TfrcNofeedback, TimerIsFourRoundTripsOrTwoPackets) {
  Flow f;
  f.open();
  EXPECT_EQ(f.sender.nofeedback_timer(), f.now + 400ms);
  f.send_for(kRtt);
  f.feedback(kPlenty, 0.9);  // X = 226 B/s: two packets take longer
  const double two = 2000 / equation(0.9);
  EXPECT_NEAR(seconds(f.sender.nofeedback_timer() - f.now), two, 1e-8);
}

TEST(TfrcNofeedback, SlowStartIsHalvedAndGoesOn) {
  Flow f;
  f.open();
  for (int i = 0; i < 3; ++i) {
    f.send_for(kRtt);
    f.feedback(kPlenty);
  }
  ASSERT_DOUBLE_EQ(f.x(), 320'000);
  f.send_for(kRtt);
  f.expire();
  EXPECT_DOUBLE_EQ(f.x(), 160'000);
  EXPECT_EQ(f.limited_by(), LimitedBy::no_feedback);
  f.send_for(kRtt);
  f.feedback(kPlenty);
  EXPECT_DOUBLE_EQ(f.x(), 320'000);
  EXPECT_EQ(f.limited_by(), LimitedBy::slow_start);
}

TEST(TfrcNofeedback, LimitedByTheEquationItIsHalvedThroughXRecvSet) {
  Flow f;
  f.avoid_congestion(0.01);
  const double x = equation(0.01);
  for (const double part : {2.0, 4.0, 8.0}) {
    f.send_for(10ms);
    f.expire();
    EXPECT_NEAR(f.x(), x / part, 1) << part;
    EXPECT_EQ(f.limited_by(), LimitedBy::no_feedback);
  }
  // X_recv_set is { X / 16 }: feedback that reports less than that does not undo the cut.
  f.send_for(kRtt);
  f.feedback(1, 0.01);
  EXPECT_NEAR(f.x(), x / 8, 1);
  f.send_for(kRtt);
  f.feedback(x / 8, 0.01);
  EXPECT_NEAR(f.x(), x / 4, 1);
}

TEST(TfrcNofeedback, LimitedByXRecvItIsHalvedTo) {
  Flow f;
  f.avoid_congestion(1e-4);
  for (int i = 0; i < 3; ++i) {
    f.send_for(kRtt);
    f.feedback(50'000, 1e-4);
  }
  ASSERT_DOUBLE_EQ(f.x(), 100'000);
  f.send_for(kRtt);
  f.expire();
  EXPECT_DOUBLE_EQ(f.x(), 50'000);
  f.send_for(kRtt);
  f.expire();
  EXPECT_DOUBLE_EQ(f.x(), 25'000);
}

TEST(TfrcNofeedback, IdleInSlowStartBelowTwiceTheRecoverRateIsSpared) {
  Flow f;
  f.open();
  f.expire();  // X = 40 kB/s < 2 * 40 kB/s
  EXPECT_DOUBLE_EQ(f.x(), 40'000);
  EXPECT_EQ(f.reading().timeouts, 0u);
}

TEST(TfrcNofeedback, IdleInSlowStartFromTwiceTheRecoverRateOnIsHalved) {
  Flow f;
  f.open();
  for (int i = 0; i < 2; ++i) {
    f.send_for(kRtt);
    f.feedback(kPlenty);
  }
  ASSERT_DOUBLE_EQ(f.x(), 160'000);
  f.expire();
  EXPECT_DOUBLE_EQ(f.x(), 80'000);
  f.expire();
  EXPECT_DOUBLE_EQ(f.x(), 40'000);
  f.expire();
  EXPECT_DOUBLE_EQ(f.x(), 40'000);
}

TEST(TfrcNofeedback, IdleInCongestionAvoidanceKeepsTheRecoverRate) {
  Flow f;
  f.avoid_congestion(1e-4);  // the equation: 1.22 MB/s
  for (int i = 0; i < 3; ++i) {
    f.send_for(kRtt);
    f.feedback(300'000, 1e-4);
  }
  ASSERT_DOUBLE_EQ(f.x(), 600'000);
  // X_recv_set 300 -> 150 -> 75 -> 37.5 kB/s, which is below 40: the end of it.
  for (const double x : {300'000.0, 150'000.0, 75'000.0, 75'000.0, 75'000.0}) {
    f.expire();
    EXPECT_DOUBLE_EQ(f.x(), x);
  }
  // An interval with a packet in between is not idle.
  f.sender.on_sent(f.now);
  f.expire();
  EXPECT_DOUBLE_EQ(f.x(), 37'500);
}

TEST(TfrcNofeedback, ResumingAfterIdleClimbsAgainToTheEquation) {
  Flow f;
  f.avoid_congestion(1e-4);
  for (int i = 0; i < 3; ++i) {
    f.send_for(kRtt);
    f.feedback(300'000, 1e-4);
  }
  for (int i = 0; i < 6; ++i) f.expire();
  ASSERT_DOUBLE_EQ(f.x(), 75'000);
  double x = 75'000;
  while (2 * x < equation(1e-4)) {
    f.send_for(kRtt);
    f.feedback(x, 1e-4);
    x *= 2;
    EXPECT_DOUBLE_EQ(f.x(), x);
  }
  f.send_for(kRtt);
  f.feedback(x, 1e-4);
  EXPECT_NEAR(f.x(), equation(1e-4), 1);
}

}  // namespace
}  // namespace surety::endpoints
