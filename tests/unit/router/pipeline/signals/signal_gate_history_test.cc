// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/signals/signal_gate.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/router/pipeline/signals/signal_packets.h"

namespace surety {
namespace {

using namespace std::chrono_literals;
using signals::kWall;
using Result = SignalResult;

constexpr Duration kMaxAge = 10s;
constexpr std::uint8_t kEnds[] = {0, 1, 255};

class SignalHistoryTest : public testing::Test {
 protected:
  // The wall clock runs with the router's time, `step` aside.
  Result hear(std::uint32_t router, std::uint64_t sequence, Duration at, Duration step = {}) {
    SignalNumber m;
    m.router = router;
    m.sequence = sequence;
    m.sent = kWall + std::chrono::duration_cast<std::chrono::milliseconds>(at + step);
    return history_.accept(m, Time{} + at);
  }
  SignalHistory history_{kMaxAge, 1'000'000};
};

TEST_F(SignalHistoryTest, EachQueueOfEachRouterCountsForItself) {
  SignalNumber m;
  m.sent = kWall;
  m.sequence = 100;
  for (const std::uint32_t router : {1u, 2u, 0x10000u, 0xffffffffu}) {
    for (const std::uint8_t port : kEnds) {
      for (const std::uint8_t queue : kEnds) {
        m.router = router;
        m.port = port;
        m.queue = queue;
        EXPECT_EQ(history_.accept(m, Time{}), Result::applied);
        EXPECT_EQ(history_.accept(m, Time{}), Result::replayed);
      }
    }
  }
  EXPECT_EQ(history_.all().size(), 36u);
}

TEST_F(SignalHistoryTest, CountsAndOrdersWhatItHears) {
  hear(1, 100, 0s);
  hear(2, 100, 1s);
  hear(1, 101, 2s);
  hear(1, 101, 3s);  // replayed: no sign of life
  ASSERT_EQ(history_.all().size(), 2u);
  EXPECT_EQ(history_.all().front().router, 2u);
  EXPECT_EQ(history_.all().front().accepted, 1u);
  EXPECT_EQ(history_.all().back().router, 1u);
  EXPECT_EQ(history_.all().back().accepted, 2u);
  EXPECT_EQ(history_.all().back().last, Time{} + 2s);
}

TEST_F(SignalHistoryTest, ForgetsAfterTwiceTheAgeOfSilence) {
  hear(1, 5000, 0s);
  hear(2, 100, 20s);
  EXPECT_EQ(history_.all().size(), 2u);
  // A restart with a lower sequence is heard when the memory is gone, not before.
  EXPECT_EQ(hear(1, 50, 20s), Result::replayed);
  EXPECT_EQ(hear(1, 50, 20s + 1ns), Result::applied);
}

// Whoever takes some at a time, last ones first, misses none that stays.
TEST_F(SignalHistoryTest, TheDenseOrderHasWhatIsRemembered) {
  for (std::uint32_t n = 0; n < 10; ++n) hear(n, 100, n < 5 ? 0s : 15s);
  std::multiset<std::uint32_t> seen;
  std::size_t left = history_.size();
  while (left > 7) seen.insert(history_[--left].router);
  hear(5, 101, 20s + 1ns);  // five are forgotten
  ASSERT_EQ(history_.size(), 5u);
  left = std::min(left, history_.size());
  while (left > 0) seen.insert(history_[--left].router);
  for (std::uint32_t n = 5; n < 10; ++n) EXPECT_GE(seen.count(n), 1u) << n;
}

TEST_F(SignalHistoryTest, IsBounded) {
  for (std::uint32_t n = 0; n < SignalHistory::kMax; ++n) ASSERT_EQ(hear(n, 100, 0s), Result::applied);
  EXPECT_EQ(hear(9999, 100, 1s), Result::senders);
  EXPECT_EQ(hear(0, 101, 1s), Result::applied);  // who is known is heard
  EXPECT_EQ(hear(9999, 100, 20s), Result::senders);
  EXPECT_EQ(hear(9999, 100, 20s + 1ns), Result::applied);  // the silent ones are gone
  EXPECT_EQ(history_.all().size(), 2u);
}

TEST_F(SignalHistoryTest, ARouterHasAPartOfTheRoom) {
  const auto hear_queue = [&](std::uint32_t router, std::size_t n, Duration at) {
    const auto sent = kWall + std::chrono::duration_cast<std::chrono::milliseconds>(at);
    return history_.accept(
        {router, static_cast<std::uint8_t>(n >> 8), static_cast<std::uint8_t>(n), 100, sent}, Time{} + at);
  };
  for (std::size_t n = 0; n < 65536; ++n)
    ASSERT_EQ(hear_queue(1, n, 0s), n < SignalHistory::kMaxOfRouter ? Result::applied : Result::senders);
  EXPECT_EQ(hear_queue(2, 0, 0s), Result::applied);
  EXPECT_EQ(hear_queue(1, 65535, 20s + 1ns), Result::applied) << "the silent ones are gone";
}

TEST_F(SignalHistoryTest, AWallClockThatStepsBackBringsNothingBack) {
  hear(1, 100, 0s);
  hear(2, 200, 30s);  // 1 is forgotten
  // Recorded from 1 at 0 s; the wall clock says it is that time again.
  EXPECT_EQ(hear(1, 100, 31s, -31s), Result::stale);
  EXPECT_EQ(hear(1, 101, 31s, -31s), Result::stale);
  EXPECT_EQ(hear(1, 101, 31s, -31s + 1ms), Result::applied);
  EXPECT_EQ(hear(2, 200, 32s, -32s), Result::replayed);  // still remembered
}

TEST_F(SignalHistoryTest, WhatWasForgottenIsOnlyWhatWasHeard) {
  hear(1, 100, 0s);
  EXPECT_EQ(hear(2, 200, 30s, 5s), Result::applied);  // its clock is ahead
  EXPECT_EQ(hear(3, 300, 30s), Result::applied);      // younger than all that 1 has sent
}

}  // namespace
}  // namespace surety
