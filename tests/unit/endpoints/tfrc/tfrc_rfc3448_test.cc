// SPDX-License-Identifier: BSD-3-Clause
// tfrc.h as RFC 3448 has it: what differs from RFC 5348, row by row of the table there.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/endpoints/tfrc/tfrc_flow.h"

namespace surety::endpoints {
namespace {

using namespace literals;

struct Rfc3448 : testing::Test {
  TfrcFlow f{{.specification = TfrcSpecification::rfc3448}};

  void round(double receive_rate, double p = 0) {
    f.send_for(kRtt);
    f.feedback(receive_rate, p);
  }
  // Slow start up to X = 40 kB/s, with all of it received.
  void climb() {
    f.open();
    round(10'000);
    round(20'000);
  }
};

// 4.2

TEST_F(Rfc3448, OnePacketPerSecondUntilTheFirstFeedbackWhateverTheHandshakeTook) {
  f.sender.on_handshake(kRtt, kStart);
  EXPECT_EQ(f.sender.rtt(), Duration::zero());
  f.send_until(kStart + 999ms);
  EXPECT_EQ(f.sent, 1u);
  EXPECT_EQ(f.sender.rate(), 1000);
  EXPECT_EQ(f.sender.nofeedback_timer(), kStart + 2s);
}

// 4.3

TEST_F(Rfc3448, TheFirstFeedbackGivesOnePacketPerRoundTrip) {
  f.open();
  EXPECT_EQ(f.sender.rtt(), kRtt);
  EXPECT_DOUBLE_EQ(f.x(), 10'000);
  EXPECT_EQ(f.limited_by(), LimitedBy::slow_start);
  EXPECT_EQ(f.sender.nofeedback_timer(), f.now + 400ms);
}

TEST_F(Rfc3448, TheFirstFeedbackDoublesWhereARoundTripIsLongerThanASecond) {
  f.send_until(kStart);
  f.now = kStart + 2s;
  f.feedback(5000, 0, 2s);
  EXPECT_DOUBLE_EQ(f.x(), 2000);
  TfrcFlow limited{{.specification = TfrcSpecification::rfc3448}};
  limited.send_until(kStart);
  limited.now = kStart + 2s;
  limited.feedback(400, 0, 2s);
  EXPECT_DOUBLE_EQ(limited.x(), 800);
  EXPECT_EQ(limited.limited_by(), LimitedBy::receive_rate);
}

// X is a whole number of bits per second.
double whole_bits(double bytes_per_second) {
  return std::floor(8 * bytes_per_second) / 8;
}

TEST_F(Rfc3448, AFirstFeedbackWithALossIsLikeAnyOther) {
  f.send_for(kRtt);
  f.feedback(kPlenty, 0.5);
  EXPECT_DOUBLE_EQ(f.x(), whole_bits(equation(0.5)));
  TfrcFlow nothing{{.specification = TfrcSpecification::rfc3448}};
  nothing.send_for(kRtt);
  nothing.feedback(0, 0.5);
  EXPECT_DOUBLE_EQ(nothing.x(), 1000.0 / 64);
}

TEST_F(Rfc3448, SlowStartDoublesOncePerRoundTripUpToTwiceTheLastXRecv) {
  f.open();
  f.send_for(kRtt / 2);
  f.feedback(10'000);  // too early to double
  EXPECT_DOUBLE_EQ(f.x(), 10'000);
  f.send_for(kRtt / 2);
  f.feedback(10'000);
  EXPECT_DOUBLE_EQ(f.x(), 20'000);
  round(15'000);
  EXPECT_DOUBLE_EQ(f.x(), 30'000);
  EXPECT_EQ(f.limited_by(), LimitedBy::receive_rate);
  round(6000);  // what was reported before does not count
  EXPECT_DOUBLE_EQ(f.x(), 12'000);
  round(2000);
  EXPECT_DOUBLE_EQ(f.x(), 10'000);  // a packet per round trip
}

TEST_F(Rfc3448, TwiceTheLastXRecvLimitsTheEquation) {
  f.avoid_congestion(1e-4);
  EXPECT_NEAR(f.x(), equation(1e-4), 1);
  round(50'000, 1e-4);
  EXPECT_DOUBLE_EQ(f.x(), 100'000);
  round(10'000, 1e-4);
  EXPECT_DOUBLE_EQ(f.x(), 20'000);
  EXPECT_EQ(f.limited_by(), LimitedBy::receive_rate);
}

TEST_F(Rfc3448, ADataLimitedIntervalIsLikeAnyOther) {
  f = TfrcFlow{{.specification = TfrcSpecification::rfc3448, .application = Rate::bytes_per_second(20'000)}};
  climb();
  round(20'000);
  EXPECT_DOUBLE_EQ(f.x(), 40'000);
  EXPECT_EQ(f.limited_by(), LimitedBy::application);
  round(15'000);
  EXPECT_DOUBLE_EQ(f.x(), 30'000);  // the largest does not stay
  round(15'000, 1e-6);
  EXPECT_DOUBLE_EQ(f.x(), 30'000);  // nor does a loss take more
}

// 4.4

TEST_F(Rfc3448, BeforeAnyFeedbackTheRateIsHalvedIdleOrNot) {
  f.send_until(kStart);
  f.expire();
  EXPECT_EQ(f.now, kStart + 2s);
  EXPECT_DOUBLE_EQ(f.x(), 500);
  f.expire();
  EXPECT_EQ(f.now, kStart + 6s);
  EXPECT_DOUBLE_EQ(f.x(), 250);
  EXPECT_EQ(f.reading().timeouts, 2u);
}

TEST_F(Rfc3448, LimitedByTheEquationItIsHalvedAndFeedbackUndoesIt) {
  f.avoid_congestion(0.01);
  const double x = equation(0.01);
  for (const double part : {2.0, 4.0, 8.0}) {
    f.sender.on_sent(f.now);
    f.expire();
    EXPECT_NEAR(f.x(), x / part, 1) << part;
    EXPECT_EQ(f.limited_by(), LimitedBy::no_feedback);
  }
  round(x / 3, 0.01);
  EXPECT_NEAR(f.x(), 2 * x / 3, 1);
  round(kPlenty, 0.01);
  EXPECT_NEAR(f.x(), x, 1);
}

TEST_F(Rfc3448, LimitedByXRecvItIsHalvedDownToAPacketIn64Seconds) {
  f.avoid_congestion(1e-4);
  round(50'000, 1e-4);
  for (double x = 50'000; x > 1000.0 / 64; x /= 2) {
    f.sender.on_sent(f.now);
    f.expire();
    EXPECT_DOUBLE_EQ(f.x(), whole_bits(x));
  }
  f.sender.on_sent(f.now);
  f.expire();
  EXPECT_DOUBLE_EQ(f.x(), 1000.0 / 64);
}

TEST_F(Rfc3448, SlowStartIsHalvedThroughXRecvAndGoesOn) {
  climb();
  ASSERT_DOUBLE_EQ(f.x(), 40'000);
  for (const double x : {20'000.0, 10'000.0, 10'000.0}) {
    f.sender.on_sent(f.now);
    f.expire();
    EXPECT_DOUBLE_EQ(f.x(), x);
    EXPECT_EQ(f.limited_by(), LimitedBy::no_feedback);
  }
  round(10'000);
  EXPECT_DOUBLE_EQ(f.x(), 20'000);
  EXPECT_EQ(f.limited_by(), LimitedBy::slow_start);
}

TEST_F(Rfc3448, IdleBelowFourPacketsPerRoundTripIsSpared) {
  climb();
  round(41'000);
  ASSERT_DOUBLE_EQ(f.x(), 80'000);
  for (int i = 0; i < 3; ++i) {
    f.expire();
    EXPECT_DOUBLE_EQ(f.x(), 41'000);  // X_recv = 41 kB/s is not below 40, half of it is
  }
  EXPECT_EQ(f.reading().timeouts, 1u);
}

// gTFRC on it

TEST_F(Rfc3448, TheGuaranteeHoldsFromTheFirstFeedbackOn) {
  f = TfrcFlow{{.specification = TfrcSpecification::rfc3448, .guarantee = Rate::bytes_per_second(100'000)}};
  f.sender.on_handshake(kRtt, kStart);
  EXPECT_EQ(f.sender.rate(), 1000);
  f.open();
  EXPECT_EQ(f.sender.rate(), 100'000);
  EXPECT_DOUBLE_EQ(f.x(), 10'000);
}

TEST_F(Rfc3448, NoTimerRaisesXBecauseTheGuaranteeArrived) {
  f = TfrcFlow{{.specification = TfrcSpecification::rfc3448, .guarantee = Rate::bytes_per_second(100'000)}};
  f.open();
  round(100'000);
  ASSERT_DOUBLE_EQ(f.x(), 20'000);
  f.sender.on_sent(f.now);
  f.expire();  // X_recv = 50 kB/s: 4.3 alone would double X
  EXPECT_DOUBLE_EQ(f.x(), 20'000);
  EXPECT_EQ(f.sender.rate(), 100'000);
}

}  // namespace
}  // namespace surety::endpoints
