// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/tcp_timer.h"

#include <gtest/gtest.h>

namespace surety::endpoints {
namespace {

using namespace literals;
using Kind = TcpTimer::Kind;

constexpr Time kNow100(100s);

struct Fixture : testing::Test {
  TcpTimer timer{RtoParams{}, kNow100};
  RttEstimator rtt;
  Duration started(Kind kind = Kind::retransmit) {
    timer.start(kind, rtt, kNow100);
    return timer.at() - kNow100;
  }
};
using TcpTimerTest = Fixture;

TEST_F(TcpTimerTest, DoesNotRunAtFirst) {
  EXPECT_EQ(timer.kind(), Kind::none);
  EXPECT_EQ(timer.at(), kNever);
}

TEST_F(TcpTimerTest, RunsForTheRtoOrAsLongAsToldTo) {
  EXPECT_EQ(started(), 1s);
  rtt.on_sample(1s);
  EXPECT_EQ(started(Kind::persist), 3s);
  timer.wait(kNow100 + 60s);
  EXPECT_EQ(timer.kind(), Kind::wait);
  EXPECT_EQ(timer.at(), kNow100 + 60s);
  timer.stop();
  EXPECT_EQ(timer.at(), kNever);
}

TEST_F(TcpTimerTest, CoarseTicksAreCountedFromTheTickGiven) {
  TcpTimer coarse({.granularity = 500ms}, Time(100ms));
  coarse.start(Kind::retransmit, rtt, kNow100);
  EXPECT_EQ(coarse.at(), Time(101'100ms));
}

TEST_F(TcpTimerTest, EachTimeoutDoublesTheRtoUntilASample) {
  for (const Duration expected : {1s, 2s, 4s}) {
    EXPECT_EQ(started(), expected);
    EXPECT_EQ(timer.expire(), Kind::retransmit);
    EXPECT_EQ(timer.at(), kNever);
  }
  EXPECT_EQ(timer.timeouts(), 3u);
  timer.on_new_ack(false, rtt, kNow100);
  EXPECT_EQ(timer.timeouts(), 0u);
  EXPECT_EQ(started(), 8s) << "an ACK alone does not end the backoff";
  timer.end_backoff();
  EXPECT_EQ(started(), 1s);
}

TEST_F(TcpTimerTest, AWaitIsNoTimeout) {
  timer.wait(kNow100);
  EXPECT_EQ(timer.expire(), Kind::wait);
  EXPECT_EQ(timer.timeouts(), 0u);
  EXPECT_EQ(started(), 1s);
}

TEST_F(TcpTimerTest, AnsweredProbesAreNoTimeoutsInARow) {
  started(Kind::persist);
  timer.expire();
  timer.on_ack();
  EXPECT_EQ(timer.timeouts(), 1u) << "it does not probe now";
  started(Kind::persist);
  timer.on_ack();
  EXPECT_EQ(timer.timeouts(), 0u);
  EXPECT_EQ(timer.kind(), Kind::persist);
}

// RFC 6298 5.3, and the Impatient variant of RFC 6582 4.
TEST_F(TcpTimerTest, NewAcksRestartItButOfPartialOnesOnlyTheFirst) {
  started();
  Time at = kNow100;
  const auto restarted = [&](bool partial) {
    at += 100ms;
    timer.on_new_ack(partial, rtt, at);
    return timer.at() == at + 1s;
  };
  EXPECT_TRUE(restarted(false));
  EXPECT_TRUE(restarted(true));
  EXPECT_FALSE(restarted(true));
  EXPECT_FALSE(restarted(true));
  EXPECT_TRUE(restarted(false)) << "the end of this recovery";
  EXPECT_TRUE(restarted(true)) << "the next";
}

TEST_F(TcpTimerTest, NewAcksRestartNoOtherTimer) {
  timer.on_new_ack(false, rtt, kNow100);
  EXPECT_EQ(timer.at(), kNever);
  timer.wait(kNow100 + 3s);
  timer.on_new_ack(false, rtt, kNow100 + 1s);
  EXPECT_EQ(timer.at(), kNow100 + 3s);
}

// RFC 6298 5.7.
TEST_F(TcpTimerTest, AfterALostSynTheFirstRtoIsThreeSeconds) {
  started();
  timer.expire();
  started();
  timer.on_syn_acknowledged();
  EXPECT_EQ(timer.at(), kNever);
  EXPECT_EQ(timer.timeouts(), 0u);
  EXPECT_EQ(started(), 3s);
}

}  // namespace
}  // namespace surety::endpoints
