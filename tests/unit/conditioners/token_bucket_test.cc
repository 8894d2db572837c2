// SPDX-License-Identifier: BSD-3-Clause
#include "conditioners/token_bucket.h"

#include <gtest/gtest.h>

#include "conditioners/rng.h"

namespace surety {
namespace {

using namespace literals;

constexpr Time kStart = Time(5s);
constexpr Duration kYear = 24h * 365;

Credit bytes(Credit n) {
  return n * kCreditPerByte;
}

TokenBucket full_bucket(const TokenBucketParams& params, Time now = kStart) {
  TokenBucket bucket;
  bucket.reset(params, now);
  return bucket;
}

TEST(TokenBucket, StartsFullAndRefusesWithoutTakingAnything) {
  const TokenBucketParams p(8_Mbps, Depth::bytes(1500));  // a byte per microsecond
  TokenBucket b = full_bucket(p);
  EXPECT_EQ(b.credit(), bytes(1500));
  EXPECT_TRUE(b.take(p, p.cost(1000)));
  EXPECT_FALSE(b.can_take(p, p.cost(501)));
  EXPECT_FALSE(b.take(p, p.cost(501)));
  EXPECT_EQ(b.credit(), bytes(500));
  EXPECT_TRUE(b.take(p, p.cost(500)));
  EXPECT_EQ(b.credit(), 0);
}

TEST(TokenBucket, FillsToTheNanosecondAndNotBeyondItsDepth) {
  const TokenBucketParams p(8_Mbps, Depth::bytes(1500));
  TokenBucket b = full_bucket(p);
  ASSERT_TRUE(b.take(p, p.cost(1500)));
  b.fill(p, kStart + 1ns);
  EXPECT_EQ(b.credit(), 8'000'000);
  b.fill(p, kStart + 1500us - 1ns);
  EXPECT_EQ(b.credit(), bytes(1500) - 8'000'000);
  b.fill(p, kStart + 1500us);
  EXPECT_EQ(b.credit(), bytes(1500));
  b.fill(p, kStart + 1s);
  EXPECT_EQ(b.credit(), bytes(1500));
}

TEST(TokenBucket, SurplusIsTheTimeBehindTheFullBucket) {
  const TokenBucketParams p(8_Mbps, Depth::bytes(1500)), none(0_bps, Depth::bytes(1500));
  TokenBucket b = full_bucket(p);
  EXPECT_EQ(b.surplus(p, kStart + 5us), 5us);
  ASSERT_TRUE(b.take(p, p.cost(1000)));
  EXPECT_EQ(b.surplus(p, kStart + 1000us), 0us);
  EXPECT_EQ(b.surplus(p, kStart + 1001us), 1us);
  EXPECT_EQ(b.surplus(p, kStart - 1s), 0us);
  EXPECT_EQ(b.surplus(none, kStart + 1s), 0us);
}

TEST(TokenBucket, TimeGoingBackwardsAddsNothingAndLosesNothing) {
  const TokenBucketParams p(8_Mbps, Depth::bytes(1500));
  TokenBucket b = full_bucket(p);
  ASSERT_TRUE(b.take(p, p.cost(1500)));
  b.fill(p, kStart + 10us);
  b.fill(p, kStart - 1s);
  EXPECT_EQ(b.credit(), bytes(10));
  b.fill(p, kStart + 10us);
  EXPECT_EQ(b.credit(), bytes(10));
  b.fill(p, kStart + 11us);
  EXPECT_EQ(b.credit(), bytes(11));
}

TEST(TokenBucket, OversizePacketPassesWhenFullAndLeavesADebt) {
  const TokenBucketParams p(8_Mbps, Depth::bytes(1500));
  TokenBucket b = full_bucket(p);
  EXPECT_TRUE(b.take(p, p.cost(9000)));
  EXPECT_EQ(b.credit(), bytes(-7500));
  EXPECT_FALSE(b.take(p, p.cost(1)));
  EXPECT_FALSE(b.take(p, p.cost(0)));  // a debt holds back everything
  b.fill(p, kStart + 9000us - 1ns);
  EXPECT_FALSE(b.take(p, p.cost(9000)));
  b.fill(p, kStart + 9000us);
  EXPECT_TRUE(b.take(p, p.cost(9000)));
}

TEST(TokenBucket, PacketsAsTokensCostTheSameWhateverTheirLength) {
  const TokenBucketParams p(576 * 8_kbps, Depth::packets(10), TokenUnit::packets, 576_B);  // 1000 packets/s
  TokenBucket b = full_bucket(p);
  EXPECT_EQ(p.cost(40), p.cost(1500));
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(b.take(p, p.cost(static_cast<std::uint32_t>(40 + 100 * i)))) << i;
  EXPECT_FALSE(b.take(p, p.cost(40)));
  b.fill(p, kStart + 1ms - 1ns);
  EXPECT_FALSE(b.take(p, p.cost(40)));
  b.fill(p, kStart + 1ms);
  EXPECT_TRUE(b.take(p, p.cost(1500)));
  EXPECT_EQ(b.credit(), 0);
}

TEST(TokenBucket, ZeroRateSpendsWhatItHolds) {
  const TokenBucketParams p(0_bps, Depth::bytes(100));
  TokenBucket b = full_bucket(p);
  EXPECT_TRUE(b.take(p, p.cost(60)));
  b.fill(p, kStart + kYear);
  EXPECT_EQ(b.credit(), bytes(40));
  EXPECT_EQ(b.wait(p, p.cost(40)), 0ns);
  EXPECT_EQ(b.wait(p, p.cost(41)), Duration::max());
  EXPECT_EQ(b.ready(p, p.cost(41)), kNever);
}

TEST(TokenBucket, ZeroDepthPacesPacketsAtTheRate) {
  const TokenBucketParams p(8_Mbps, Depth::bytes(0));
  TokenBucket b = full_bucket(p);
  EXPECT_TRUE(b.take(p, p.cost(1000)));
  b.fill(p, kStart + 999us);
  EXPECT_FALSE(b.take(p, p.cost(1000)));
  b.fill(p, kStart + 1000us);
  EXPECT_TRUE(b.take(p, p.cost(1000)));
}

TEST(TokenBucket, VeryLongIdleTimesFillItAtAnyRate) {
  for (const Rate rate : {1_bps, 1_Mbps, 100_Gbps, 1'000'000_Gbps}) {
    const TokenBucketParams p(rate, Depth::packets(2));
    TokenBucket b = full_bucket(p, Time{});
    ASSERT_TRUE(b.take(p, p.depth()));
    b.fill(p, Time(200 * kYear));
    EXPECT_EQ(b.credit(), p.depth()) << rate.bits_per_second();
  }
}

TEST(TokenBucket, DepthIsLimitedToOneGigabyte) {
  EXPECT_EQ(TokenBucketParams(1_bps, Depth::bytes(5'000'000'000)).depth(), bytes(1'000'000'000));
  const TokenBucketParams p(100_Gbps, Depth::bytes(1'000'000'000));
  TokenBucket b = full_bucket(p);
  ASSERT_TRUE(b.take(p, p.depth()));
  b.fill(p, kStart + 79ms);
  EXPECT_EQ(b.credit(), bytes(987'500'000));
  b.fill(p, kStart + 81ms);
  EXPECT_EQ(b.credit(), p.depth());
}

TEST(TokenBucket, OneBitPerSecondAndHundredGigabit) {
  const TokenBucketParams slow(1_bps, Depth::bytes(1500));
  TokenBucket b = full_bucket(slow);
  ASSERT_TRUE(b.take(slow, slow.cost(1500)));
  b.fill(slow, kStart + 12'000s - 1ns);
  EXPECT_FALSE(b.take(slow, slow.cost(1500)));
  b.fill(slow, kStart + 12'000s);
  EXPECT_TRUE(b.take(slow, slow.cost(1500)));

  const TokenBucketParams fast(100_Gbps, Depth::bytes(64));
  b = full_bucket(fast);
  ASSERT_TRUE(b.take(fast, fast.cost(64)));
  b.fill(fast, kStart + 5ns);  // 62.5 bytes
  EXPECT_EQ(b.credit(), 500 * kCreditPerBit);
  EXPECT_EQ(b.wait(fast, fast.cost(64)), 1ns);
}

// The first nanosecond, for rates and depths of every magnitude.
TEST(TokenBucket, WaitPredictsTheMomentOfTheNextTake) {
  Rng rng(7);
  for (int i = 0; i < 100'000; ++i) {
    const Rate rate = Rate::bits_per_second(1 + (std::uint64_t{rng.next()} * 100 >> rng.next() % 38));
    const TokenBucketParams p(rate, Depth::bytes(1 + rng.next() % 3000));
    TokenBucket b = full_bucket(p);
    b.take(p, p.cost(1 + rng.next() % 9000));
    const Credit cost = p.cost(1 + rng.next() % 9000);
    const Credit need = std::min(cost, p.depth()) - b.credit();
    const auto bps = static_cast<Credit>(rate.bits_per_second());
    const Credit exact = need <= 0 ? 0 : need / bps + (need % bps != 0);
    const Credit wait = b.wait(p, cost).count();
    ASSERT_GE(wait, exact);
    ASSERT_LE(wait, exact + exact / 1'000'000'000'000);
    ASSERT_EQ(b.ready(p, cost), kStart + Duration(wait));
    b.fill(p, kStart + Duration(wait));
    ASSERT_TRUE(b.take(p, cost));
  }
}

// Waits of up to centuries, where a double no longer holds every nanosecond.
TEST(TokenBucket, WaitIsNeverShortHoweverLong) {
  Rng rng(8);
  for (int i = 0; i < 100'000; ++i) {
    const TokenBucketParams p(Rate::bits_per_second(1 + rng.next() % 97),
                              Depth::bytes(1 + rng.next() % 1'000'000'000));
    TokenBucket b = full_bucket(p, Time{});
    ASSERT_TRUE(b.take(p, p.depth()));
    const Credit exact = (p.depth() - 1) / static_cast<Credit>(p.rate().bits_per_second()) + 1;
    const Credit wait = b.wait(p, p.depth()).count();
    ASSERT_GE(wait, exact);
    ASSERT_LE(wait, exact + exact / 1'000'000'000'000);
  }
}

// A bucket that is never full for a year: its credit is depth + rate * time - taken, to the last unit.
template <class NextStep>
void expect_exact_over_a_year(Rate rate, NextStep next_step) {
  const TokenBucketParams p(rate, Depth::bytes(1'000'000'000));
  TokenBucket b = full_bucket(p);
  ASSERT_TRUE(b.take(p, p.depth()));
  Rng rng(11);
  __int128 taken = p.depth();
  for (Time now = kStart; now - kStart < kYear;) {
    now += next_step();
    b.fill(p, now);
    if (const Credit cost = b.credit() / 2 + rng.next() % 1000; b.take(p, cost)) taken += cost;
    const __int128 given = static_cast<__int128>(rate.bits_per_second()) * (now - kStart).count();
    ASSERT_TRUE(static_cast<__int128>(b.credit()) == p.depth() + given - taken);
  }
}

TEST(TokenBucket, YearOfRandomStepsIsExact) {
  Rng rng(3);
  expect_exact_over_a_year(Rate::bits_per_second(99'999'989), [&] {
    return Duration(1 + std::int64_t{rng.next()} * 5);  // up to 21 s: 3 million steps
  });
}

TEST(TokenBucket, YearOfPeriodicStepsIsExact) {
  expect_exact_over_a_year(Rate::bits_per_second(333'333'333), [] { return Duration(9'999'999'967); });
}

// Random takes against a 128-bit model that also clamps at the depth, with idle times from 0 ns to hours.
TEST(TokenBucket, RandomTrafficMatchesTheModel) {
  Rng rng(5);
  const Rate rate = 1_Mbps;
  const TokenBucketParams p(rate, Depth::packets(10), TokenUnit::bytes, 576_B);
  TokenBucket b = full_bucket(p);
  __int128 model = p.depth();
  Time now = kStart;
  for (int i = 0; i < 2'000'000; ++i) {
    const Duration step((std::int64_t{rng.next()} << 12) >> rng.next() % 44);
    now += step;
    model = std::min<__int128>(p.depth(), model + static_cast<__int128>(step.count()) * 1'000'000);
    b.fill(p, now);
    const Credit cost = p.cost(rng.next() % 7000);
    const bool passes = model >= std::min(cost, p.depth());
    if (passes) model -= cost;
    ASSERT_EQ(b.take(p, cost), passes) << i;
    ASSERT_TRUE(model == b.credit()) << i;
  }
}

// Tokens of TokenUnit::ticks come at k * packet / rate from time 0 on, whenever the bucket began.
TEST(TokenBucketOfTicks, TokensComeAtTheTicksOfTheClock) {
  const TokenBucketParams p(1_Mbps, Depth::packets(2), TokenUnit::ticks, 576_B);  // a tick is 4.608 ms
  for (const Duration begin : {Duration(0), Duration(1ms), Duration(4608us - 1ns)}) {
    TokenBucket b = full_bucket(p, Time(begin));
    EXPECT_TRUE(b.take(p, p.cost(576)));
    EXPECT_TRUE(b.take(p, p.cost(576)));
    EXPECT_EQ(b.ready(p, p.cost(576)), Time(4608us)) << begin.count();
    b.fill(p, Time(4608us - 1ns));
    EXPECT_FALSE(b.can_take(p, p.cost(576)));
    b.fill(p, Time(4608us));
    EXPECT_TRUE(b.take(p, p.cost(576)));
    EXPECT_EQ(b.ready(p, p.cost(576)), Time(2 * 4608us));
    b.fill(p, Time(100 * 4608us + 5us));  // full again, between two ticks
    EXPECT_TRUE(b.take(p, p.cost(576)));
    EXPECT_TRUE(b.take(p, p.cost(576)));
    EXPECT_EQ(b.ready(p, p.cost(576)), Time(101 * 4608us));
  }
}

// Against whole tokens and a division, at rates whose tick is no whole number of nanoseconds, too, with
// changes of the clock in between.
TEST(TokenBucketOfTicks, HoldsWholeTokens) {
  Rng rng(41);
  for (const Rate rate : {1_Mbps, Rate::bits_per_second(1'700'001), 400_kbps}) {
    const TokenBucketParams p(rate, Depth::packets(3), TokenUnit::ticks, 576_B);
    const auto ticks = [&](Time now) {
      const auto credit =
          static_cast<unsigned __int128>(now.time_since_epoch().count()) * rate.bits_per_second();
      return static_cast<std::int64_t>(credit / static_cast<std::uint64_t>(p.cost(576)));
    };
    Time now = kStart;
    TokenBucket b = full_bucket(p, now);
    std::int64_t tokens = 3, last = ticks(now);
    int taken = 0;
    for (int i = 0; i < 100'000; ++i) {
      if (rng.next() % 100 == 0) {
        now = kStart + Duration(rng.next() % 1'000'000'000);
        b.rebase(p, now);
      } else {
        now += Duration(rng.next() % 6'000'000);
        b.fill(p, now);
        tokens = std::min<std::int64_t>(3, tokens + ticks(now) - last);
      }
      last = ticks(now);
      ASSERT_EQ(b.take(p, p.cost(576)), tokens > 0) << i;
      taken += tokens > 0;
      tokens -= tokens > 0;
      if (tokens > 0) continue;
      const Time next = b.ready(p, p.cost(576));
      ASSERT_EQ(ticks(next), last + 1) << i;
      ASSERT_EQ(ticks(next - 1ns), last) << i;
    }
    EXPECT_GT(taken, 10'000);
  }
}

TEST(TokenBucketOfTicks, ADebtStaysADebtOnAnotherClock) {
  const TokenBucketParams p(1_Mbps, Depth::packets(1), TokenUnit::ticks, 576_B);
  TokenBucket b = full_bucket(p, Time(1ms));
  for (int i = 0; i < 3; ++i) b.charge(p.cost(576));
  b.rebase(p, Time(2ms));
  EXPECT_EQ(b.ready(p, p.cost(576)), Time(3 * 4608us));
}

TEST(TokenBucketOfTicks, ADepthIsWholeTokens) {
  EXPECT_EQ(TokenBucketParams(1_Mbps, Depth::bytes(1500), TokenUnit::ticks, 576_B).depth(), bytes(2 * 576));
  EXPECT_EQ(TokenBucketParams(1_Mbps, Depth::bytes(100), TokenUnit::ticks, 576_B).depth(), bytes(576));
}

TEST(TokenBucketParams, CostOfSeveralPacketsIsTheSum) {
  const TokenBucketParams of_bytes(8_Mbps, Depth::bytes(1000));
  EXPECT_EQ(of_bytes.cost(3000, 2), of_bytes.cost(1000) + of_bytes.cost(2000));
  const TokenBucketParams of_packets(8_Mbps, Depth::packets(10), TokenUnit::packets, 576_B);
  EXPECT_EQ(of_packets.cost(3000, 2), of_packets.cost(1000) + of_packets.cost(2000));
  EXPECT_EQ(of_packets.cost(0, 0), 0);
  const TokenBucketParams huge(8_Mbps, Depth::packets(1), TokenUnit::packets, kMaxBucketDepth);
  EXPECT_EQ(huge.cost(100, 64), std::numeric_limits<Credit>::max());
}

}  // namespace
}  // namespace surety
