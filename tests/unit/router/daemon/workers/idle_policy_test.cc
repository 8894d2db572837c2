// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/workers/idle_policy.h"

#include <gtest/gtest.h>

namespace surety {
namespace {

using namespace std::chrono_literals;

constexpr Time kStart{Duration(1h)};
constexpr IdleParams kParams{.turns = 4, .after = 20us, .look = 30us, .longest = 10ms, .least = 5us};

// A policy that has seen an idle turn each 10 us from kStart on, as many as `turns`.
IdlePolicy idle(bool all_wake, int turns) {
  IdlePolicy p(kParams, all_wake);
  p.turn(true, kStart - 10us);
  for (int i = 0; i < turns; ++i) p.turn(false, kStart + i * 10us);
  return p;
}

TEST(IdlePolicy, StaysAwakeForSomeTurns) {
  EXPECT_EQ(idle(true, 3).sleep(kStart + 1s, kNever), 0us);
  EXPECT_EQ(idle(true, 4).sleep(kStart + 1s, kNever), 10ms);
}

TEST(IdlePolicy, StaysAwakeForSomeTime) {
  const auto p = idle(true, 4);
  EXPECT_EQ(p.sleep(kStart + 20us - 1ns, kNever), 0us);
  EXPECT_EQ(p.sleep(kStart + 20us, kNever), 10ms);
}

// However long ago: what is in between does not fit a duration.
TEST(IdlePolicy, StaysAwakeForWhatIsDue) {
  EXPECT_EQ(idle(true, 4).sleep(kStart + 1s, kStart + 1s), 0us);
  EXPECT_EQ(idle(true, 4).sleep(kStart + 1s, Time::min()), 0us);
}

TEST(IdlePolicy, IsAwakeFromTheBeginning) {
  EXPECT_EQ(IdlePolicy(kParams, true).sleep(kStart, kNever), 0us);
}

TEST(IdlePolicy, StartsAnewWithAPacket) {
  auto p = idle(true, 100);
  p.turn(true, kStart + 1ms);
  EXPECT_EQ(p.sleep(kStart + 1ms, kNever), 0us);
  for (int i = 1; i <= 4; ++i) p.turn(false, kStart + 1ms + i * 1us);
  EXPECT_EQ(p.sleep(kStart + 1ms + 20us, kNever), 0us) << "idle since the first turn without a packet";
  EXPECT_EQ(p.sleep(kStart + 1ms + 21us, kNever), 10ms);
}

TEST(IdlePolicy, LooksOftenWhereNothingWakesIt) {
  EXPECT_EQ(idle(false, 4).sleep(kStart + 1ms, kNever), 30us);
}

TEST(IdlePolicy, LooksOftenWhileADeviceTakesNoPackets) {
  const Time now = kStart + 1ms;
  EXPECT_EQ(idle(true, 4).sleep(now, kNever, true), 30us);
  EXPECT_EQ(idle(true, 4).sleep(now, now + 7us, true), 7us);
  EXPECT_EQ(idle(true, 3).sleep(now, kNever, true), 0us);
}

TEST(IdlePolicy, SleepsUpToTheNextTimer) {
  const Time now = kStart + 1ms;
  const auto p = idle(true, 4);
  EXPECT_EQ(p.sleep(now, now + 10ms), 10ms);
  EXPECT_EQ(p.sleep(now, now + 10ms - 1ns), 10ms - 1ns);
  EXPECT_EQ(p.sleep(now, now + 5us), 5us);
  EXPECT_EQ(idle(false, 4).sleep(now, now + 7us), 7us);
}

TEST(IdlePolicy, DoesNotSleepForLessThanItCosts) {
  const Time now = kStart + 1ms;
  EXPECT_EQ(idle(true, 4).sleep(now, now + 5us - 1ns), 0us);
  EXPECT_EQ(idle(true, 4).sleep(now, now), 0us);
  EXPECT_EQ(idle(true, 4).sleep(now, now - 1s), 0us) << "a timer that is overdue";
}

}  // namespace
}  // namespace surety
