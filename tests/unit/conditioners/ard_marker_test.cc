// SPDX-License-Identifier: BSD-3-Clause
#include "conditioners/ard_marker.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>
#include <vector>

namespace surety {
namespace {

using namespace literals;

constexpr Time kStart = Time(50s);
constexpr auto kIn = Precedence::in;
constexpr auto kOut = Precedence::out;

Credit bytes(Credit n) {
  return n * kCreditPerByte;
}

// The paper's marker, in bytes of 1000-byte packets.
ArdParams paper(Rate tpr_max) {
  ArdParams p;
  p.tpr_max = tpr_max;
  p.nominal_packet = 1000_B;
  return p;
}

// Counts the verdicts of `n` packets of the same kind.
std::array<int, 3> offer(ArdMarker& marker, int n, Precedence precedence, std::uint32_t length, Time now) {
  std::array<int, 3> verdicts{};
  for (int i = 0; i < n; ++i) ++verdicts[static_cast<std::size_t>(marker.offer(precedence, length, now))];
  return verdicts;
}

TEST(ArdMarker, DefaultsAreThePapers) {
  const ArdParams p;
  EXPECT_EQ(p.bucket, Depth::packets(60));
  EXPECT_EQ(p.threshold, Depth::packets(15));
  EXPECT_EQ(p.remark.value(), 0.5);
  EXPECT_EQ(p.drop.value(), 0.02);
  EXPECT_EQ(p.interval, 1000 * 100ms);
}

// Section III: 494 and 546 kb/s give 570 kb/s of 1.2 Mb/s; 1658 and 4102 kb/s give 1727 of 6 Mb/s.
TEST(ArdMarker, TprIsEquation2AtThePapersRates) {
  const struct {
    Rate tpr_max;
    int in, out;  // packets of 1000 bytes in 100 s
    Rate tpr;
  } cases[] = {
      {1200_kbps, 6175, 6825, 570_kbps},
      {6_Mbps, 20725, 51275, Rate::bits_per_second(1'727'083)},  // .33 rounded down
      {6_Mbps, 1000, 0, 6_Mbps},
      {6_Mbps, 0, 1000, 0_bps},
      {100_Gbps, 1, 2, Rate::bits_per_second(33'333'333'333)},
  };
  for (const auto& c : cases) {
    ArdMarker marker(paper(c.tpr_max), kStart, 1);
    EXPECT_EQ(marker.tpr(), c.tpr_max);
    offer(marker, c.in, kIn, 1000, kStart + 1s);
    offer(marker, c.out, kOut, 1000, kStart + 99s);
    marker.advance(kStart + 100s - 1ns);
    EXPECT_EQ(marker.tpr(), c.tpr_max);
    marker.advance(kStart + 100s);
    EXPECT_EQ(marker.tpr(), c.tpr);
    EXPECT_DOUBLE_EQ(marker.lambda_in(), c.in * 10.0);
    EXPECT_DOUBLE_EQ(marker.lambda_out(), c.out * 10.0);
  }
}

TEST(ArdMarker, MetersCountWhatArrivesNotWhatPasses) {
  ArdMarker marker(paper(1_Mbps), kStart, 1);
  const auto verdicts = offer(marker, 500, kIn, 1000, kStart);
  EXPECT_GT(verdicts[1], 400);  // nearly all are remarked
  offer(marker, 500, kOut, 1000, kStart);
  marker.advance(kStart + 100s);
  EXPECT_EQ(marker.tpr(), 500_kbps);
}

// Section 2.2: else what is left IN would be remarked while it becomes less.
TEST(ArdMarker, TprIsNotLessThanLambdaIn) {
  const struct {
    int in, out;  // packets of 1000 bytes in 100 s
    Rate tpr;
  } cases[] = {
      {6250, 6250, 500_kbps},   // 500 and 500 kb/s of 1 Mb/s: equation 2 gives just lambda_in
      {7500, 7500, 600_kbps},   // 600 each: equation 2 gives 500
      {12'500, 100, 1_Mbps},    // 1 Mb/s of IN: equation 2 gives a little less
      {25'000, 25'000, 1_Mbps}  // TPR_max is the most
  };
  for (const auto& c : cases) {
    ArdMarker marker(paper(1_Mbps), kStart, 1);
    offer(marker, c.in, kIn, 1000, kStart + 1s);
    offer(marker, c.out, kOut, 1000, kStart + 1s);
    marker.advance(kStart + 100s);
    EXPECT_EQ(marker.tpr(), c.tpr) << c.in;
  }
}

TEST(ArdMarker, IntervalsAreAlignedToTheStart) {
  ArdMarker marker(paper(1_Mbps), kStart, 1);
  EXPECT_EQ(marker.next_event(), kStart + 100s);
  marker.offer(kIn, 1000, kStart + 130s);  // ends the first interval and counts in the second
  EXPECT_EQ(marker.next_event(), kStart + 200s);
  EXPECT_EQ(marker.lambda_in(), 0);
  marker.advance(kStart + 950s);
  EXPECT_EQ(marker.next_event(), kStart + 1000s);
}

TEST(ArdMarker, IntervalsWithoutTrafficKeepTheTpr) {
  ArdMarker marker(paper(1_Mbps), kStart, 1);
  marker.advance(kStart + 100s);
  EXPECT_EQ(marker.tpr(), 1_Mbps);
  offer(marker, 1, kIn, 1000, kStart + 100s);
  offer(marker, 3, kOut, 1000, kStart + 100s);
  marker.advance(kStart + 200s);
  EXPECT_EQ(marker.tpr(), 250_kbps);
  EXPECT_EQ(marker.lambda_out(), 30);
  marker.advance(kStart + 300s);
  EXPECT_EQ(marker.tpr(), 250_kbps);
  EXPECT_EQ(marker.lambda_out(), 0);
  offer(marker, 1, kIn, 1000, kStart + 350s);
  offer(marker, 1, kOut, 1000, kStart + 350s);
  marker.advance(kStart + 24h * 365);  // the interval with traffic, then very many without
  EXPECT_EQ(marker.tpr(), 500_kbps);
  EXPECT_EQ(marker.lambda_in(), 0);
}

TEST(ArdMarker, OutPacketsAreOnlyMetered) {
  ArdMarker marker(paper(1_Mbps), kStart, 1);
  EXPECT_EQ(offer(marker, 1000, kOut, 1000, kStart), (std::array{1000, 0, 0}));
  EXPECT_EQ(marker.tokens(), bytes(60'000));
}

TEST(ArdMarker, InPacketsTakeTokensWhichFillAtTpr) {
  ArdMarker marker(paper(8_Mbps), kStart, 1);  // a byte per microsecond
  EXPECT_EQ(marker.tokens(), bytes(60'000));
  EXPECT_EQ(offer(marker, 40, kIn, 1000, kStart), (std::array{40, 0, 0}));
  EXPECT_EQ(marker.tokens(), bytes(20'000));
  EXPECT_EQ(marker.offer(kIn, 1000, kStart + 5ms), ArdVerdict::pass);
  EXPECT_EQ(marker.tokens(), bytes(24'000));
}

TEST(ArdMarker, WhoLooksOnSeesTheTokensOfTheMoment) {
  ArdMarker marker(paper(8_Mbps), kStart, 1);  // a byte per microsecond
  EXPECT_EQ(marker.threshold(), bytes(15'000));
  offer(marker, 10, kIn, 1000, kStart);
  EXPECT_EQ(marker.tokens(kStart), bytes(50'000));
  EXPECT_EQ(marker.tokens(kStart + 4ms), bytes(54'000));
  EXPECT_EQ(marker.tokens(kStart + 50ms), bytes(60'000));
  EXPECT_EQ(marker.tokens(), bytes(50'000)) << "and changes nothing";
}

TEST(ArdMarker, NewTprHoldsFromTheEndOfTheInterval) {
  ArdParams p = paper(8_Mbps);
  p.interval = 100ms;
  ArdMarker marker(p, kStart, 1);
  offer(marker, 20, kIn, 1000, kStart + 95ms);  // 40000 tokens left
  offer(marker, 60, kOut, 1000, kStart + 95ms);
  EXPECT_EQ(marker.offer(kIn, 1000, kStart + 110ms), ArdVerdict::pass);
  EXPECT_EQ(marker.tpr(), 2_Mbps);
  // 5 ms at 8 Mbit/s, then 10 ms at 2 Mbit/s, and the packet.
  EXPECT_EQ(marker.tokens(), bytes(40'000 + 5'000 + 2'500 - 1'000));
}

TEST(ArdMarker, OutTrafficAloneMakesTprZero) {
  ArdParams p = paper(8_Mbps);
  p.drop = Probability(0);
  ArdMarker marker(p, kStart, 1);
  offer(marker, 10, kOut, 1000, kStart);
  marker.advance(kStart + 100s);
  ASSERT_EQ(marker.tpr(), 0_bps);
  const Time later = kStart + 150s;
  offer(marker, 1000, kIn, 1000, later);  // spends what the bucket held
  ASSERT_EQ(marker.tokens(), 0);
  EXPECT_EQ(offer(marker, 1000, kIn, 1000, later), (std::array{0, 1000, 0}));
}

TEST(ArdMarker, Equation1) {
  const ArdMarker marker(paper(0_bps), kStart, 1);
  EXPECT_DOUBLE_EQ(marker.remark_probability(bytes(15'000)).value(), 0);
  EXPECT_DOUBLE_EQ(marker.remark_probability(bytes(14'000)).value(), 0.5 / 15);
  EXPECT_DOUBLE_EQ(marker.remark_probability(bytes(7'500)).value(), 0.25);
  EXPECT_DOUBLE_EQ(marker.remark_probability(0).value(), 0.5);
  EXPECT_DOUBLE_EQ(marker.remark_probability(bytes(60'000)).value(), 0);
}

// A marker whose level stays where it is: no rate, and packets that cost nothing.
ArdMarker marker_at(std::uint32_t tokens, ArdParams p = paper(0_bps), std::uint64_t seed = 77) {
  ArdMarker marker(p, kStart, seed);
  EXPECT_EQ(marker.offer(kIn, 60'000 - tokens, kStart), ArdVerdict::pass);
  EXPECT_EQ(marker.tokens(), bytes(tokens));
  return marker;
}

double chi_square(const std::array<int, 3>& seen, const std::array<double, 3>& probability) {
  const double n = seen[0] + seen[1] + seen[2];
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const double expected = n * probability[i];
    sum += (seen[i] - expected) * (seen[i] - expected) / expected;
  }
  return sum;
}

TEST(ArdMarker, VerdictsFollowTheEquationsAtEveryTokenLevel) {
  for (const std::uint32_t level : {14'000u, 10'000u, 7'500u, 3'000u, 0u}) {
    ArdMarker marker = marker_at(level);
    const double remark = 0.5 * (15'000.0 - level) / 15'000;
    const auto seen = offer(marker, 200'000, kIn, 0, kStart);
    EXPECT_EQ(marker.tokens(), bytes(level));
    EXPECT_LT(chi_square(seen, {0.98 * (1 - remark), 0.98 * remark, 0.02}), 13.8)  // 2 degrees, p = 0.001
        << level;
  }
}

TEST(ArdMarker, FromTheThresholdUpEveryInPacketPasses) {
  ArdMarker at = marker_at(15'000);
  EXPECT_EQ(offer(at, 10'000, kIn, 0, kStart), (std::array{10'000, 0, 0}));
  ArdMarker below = marker_at(14'999);
  EXPECT_GT(offer(below, 10'000, kIn, 0, kStart)[2], 0);
}

TEST(ArdMarker, WithoutTokensForItAPacketIsRemarkedOrDropped) {
  ArdMarker marker = marker_at(500);
  const auto seen = offer(marker, 100'000, kIn, 501, kStart);
  EXPECT_EQ(seen[0], 0);
  EXPECT_NEAR(seen[2], 2000, 150);  // 3.4 standard deviations
  EXPECT_EQ(seen[1] + seen[2], 100'000);
  EXPECT_EQ(marker.tokens(), bytes(500));  // neither takes a token
}

TEST(ArdMarker, WithoutTokensAlsoAboveTheThreshold) {
  ArdParams p = paper(0_bps);
  p.threshold = Depth::packets(0);
  ArdMarker marker = marker_at(800, p);
  const auto seen = offer(marker, 10'000, kIn, 1000, kStart);
  EXPECT_EQ(seen[0], 0);
  EXPECT_GT(seen[2], 0);
  EXPECT_EQ(marker.offer(kIn, 800, kStart), ArdVerdict::pass);
}

TEST(ArdMarker, ArmNeverDrops) {
  ArdParams p = paper(0_bps);
  p.drop = Probability(0);
  ArdMarker marker = marker_at(3'000, p);
  const auto seen = offer(marker, 100'000, kIn, 0, kStart);
  EXPECT_EQ(seen[2], 0);
  EXPECT_NEAR(seen[1], 40'000, 500);  // 0.4, 3.2 standard deviations
  EXPECT_EQ(offer(marker, 1000, kIn, 4000, kStart), (std::array{0, 1000, 0}));
}

TEST(ArdMarker, PacketsAsTokens) {
  ArdParams p = paper(8_Mbps);  // 1000 packets/s
  p.tokens = TokenUnit::packets;
  ArdMarker marker(p, kStart, 1);
  for (int i = 0; i < 45; ++i) EXPECT_EQ(marker.offer(kIn, i % 2 == 0 ? 40 : 1500, kStart), ArdVerdict::pass);
  EXPECT_EQ(marker.tokens(), bytes(15 * 1000));
  EXPECT_EQ(marker.offer(kIn, 40, kStart + 3ms), ArdVerdict::pass);
  EXPECT_EQ(marker.tokens(), bytes(17 * 1000));
}

TEST(ArdMarker, SameSeedSameVerdicts) {
  ArdMarker a = marker_at(3'000), b = marker_at(3'000), other = marker_at(3'000, paper(0_bps), 78);
  int differ = 0;
  for (int i = 0; i < 1000; ++i) {
    const ArdVerdict verdict = a.offer(kIn, 0, kStart);
    ASSERT_EQ(verdict, b.offer(kIn, 0, kStart));
    differ += verdict != other.offer(kIn, 0, kStart);
  }
  EXPECT_GT(differ, 100);
}

// A burst passes as a whole just when one by one all of its packets pass and T_rd tokens are left.
TEST(ArdMarker, ABurstPassesAsAWhole) {
  int whole = 0, singly = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    ArdParams p = paper(5_Mbps);
    p.tokens = seed % 2 == 0 ? TokenUnit::packets : TokenUnit::bytes;
    p.interval = 40ms;
    ArdMarker burst(p, kStart, seed), one(p, kStart, seed);
    Rng rng(seed);
    Time now = kStart;
    for (int round = 0; round < 100; ++round) {
      now += Duration(rng.next() % 20'000'000);
      std::vector<std::pair<Precedence, std::uint32_t>> packets(1 + rng.next() % 20);
      std::array<BurstTally, kPrecedences> tally{};
      for (auto& [precedence, length] : packets) {
        precedence = rng.next() % 3 == 0 ? kOut : kIn;
        length = 40 + rng.next() % 1460;
        ++tally[index(precedence)].packets;
        tally[index(precedence)].bytes += length;
      }
      const bool passed = burst.pass(tally[0], tally[1], now);
      ++(passed ? whole : singly);
      bool all = true;
      for (const auto& [precedence, length] : packets) {
        const ArdVerdict verdict = one.offer(precedence, length, now);
        all = all && verdict == ArdVerdict::pass;
        if (!passed) {
          ASSERT_EQ(burst.offer(precedence, length, now), verdict);
        }
      }
      ASSERT_TRUE(all || !passed);
      ASSERT_EQ(burst.tokens(), one.tokens());
      ASSERT_EQ(burst.tpr().bits_per_second(), one.tpr().bits_per_second());
      ASSERT_EQ(burst.lambda_out(), one.lambda_out());
    }
  }
  EXPECT_GT(whole, 1000);
  EXPECT_GT(singly, 500);
}

TEST(ArdMarker, ABurstThatLeavesLessThanTheThresholdIsOfferedSingly) {
  ArdMarker marker(paper(0_bps), kStart, 1);  // 60 packets of 1000 bytes, T_rd 15
  EXPECT_FALSE(marker.pass({46, 46'000}, {}, kStart));
  EXPECT_EQ(marker.tokens(), bytes(60'000)) << "nothing has been taken";
  EXPECT_TRUE(marker.pass({45, 45'000}, {3, 3000}, kStart));
  EXPECT_EQ(marker.tokens(), bytes(15'000));
  EXPECT_TRUE(marker.pass({}, {3, 3000}, kStart)) << "OUT packets are only metered";
  EXPECT_FALSE(marker.pass({1, 1}, {}, kStart));
}

TEST(ArdMarker, ABurstOfHugeTokensIsBeyondEveryBucket) {
  ArdParams p;
  p.tpr_max = 8_Mbps;
  p.tokens = TokenUnit::packets;
  p.nominal_packet = 1'000'000'000_B;
  p.threshold = Depth::packets(0);
  ArdMarker marker(p, kStart, 1);
  EXPECT_TRUE(marker.pass({1, 100}, {}, kStart));
  EXPECT_FALSE(marker.pass({64, 6400}, {}, kStart + 1s)) << "64 GB do not fit into the sum";
}

// ---- other parameters

void adopt(ArdMarker& marker, const ArdParams& p, Time now) {
  marker.adopt(ArdMarker(p, now, 99), now);
}

// After an interval of `in` and `out` packets.
TEST(ArdMarkerAdopt, TheTprKeepsItsShareOfTheMaximum) {
  const struct {
    Rate before;
    int in, out;
    Rate after, tpr;
  } cases[] = {
      {8_Mbps, 0, 0, 8_Mbps, 8_Mbps},   {8_Mbps, 0, 0, 4_Mbps, 4_Mbps},   {8_Mbps, 0, 0, 16_Mbps, 16_Mbps},
      {8_Mbps, 30, 10, 8_Mbps, 6_Mbps}, {8_Mbps, 30, 10, 4_Mbps, 3_Mbps}, {8_Mbps, 30, 10, 100_Gbps, 75_Gbps},
      {8_Mbps, 0, 10, 16_Mbps, 0_bps},  {8_Mbps, 30, 10, 0_bps, 0_bps},   {0_bps, 0, 0, 8_Mbps, 8_Mbps},
  };
  for (const auto& c : cases) {
    ArdMarker marker(paper(c.before), kStart, 1);
    offer(marker, c.in, kIn, 1000, kStart);
    offer(marker, c.out, kOut, 1000, kStart);
    adopt(marker, paper(c.after), kStart + 101s);
    EXPECT_EQ(marker.tpr(), c.tpr) << c.after.bits_per_second();
    EXPECT_EQ(marker.lambda_in(), c.in * 10);
    EXPECT_EQ(marker.lambda_out(), c.out * 10);
    EXPECT_EQ(marker.next_event(), kStart + 200s) << "the running interval goes on";
  }
}

TEST(ArdMarkerAdopt, TokensStayUpToTheNewDepth) {
  const struct {
    std::uint32_t tokens, bucket, expected;
  } cases[] = {{60'000, 60, 60'000}, {60'000, 10, 10'000}, {60'000, 100, 60'000}, {7'000, 10, 7'000}};
  for (const auto& c : cases) {
    ArdMarker marker = marker_at(c.tokens);
    ArdParams p = paper(0_bps);
    p.bucket = Depth::packets(c.bucket);
    adopt(marker, p, kStart + 1s);
    EXPECT_EQ(marker.tokens(), bytes(c.expected));
  }
}

TEST(ArdMarkerAdopt, TokensFillAtTheOldRateUpToTheChange) {
  ArdMarker marker(paper(8_Mbps), kStart, 1);
  offer(marker, 1, kIn, 40'000, kStart);
  adopt(marker, paper(16_Mbps), kStart + 10ms);
  EXPECT_EQ(marker.tokens(), bytes(30'000));
  marker.offer(kIn, 1'000, kStart + 15ms);
  EXPECT_EQ(marker.tokens(), bytes(39'000));
}

TEST(ArdMarkerAdopt, VerdictsFollowTheNewParameters) {
  ArdParams p = paper(0_bps);
  p.threshold = Depth::packets(10);
  p.remark = Probability(1);
  p.drop = Probability(0);
  ArdMarker marker = marker_at(0);
  adopt(marker, p, kStart);
  EXPECT_DOUBLE_EQ(marker.remark_probability(bytes(5'000)).value(), 0.5);
  EXPECT_EQ(offer(marker, 1000, kIn, 1, kStart), (std::array{0, 1000, 0})) << "ARM";
  p.drop = Probability(1);
  adopt(marker, p, kStart);
  EXPECT_EQ(offer(marker, 1000, kIn, 1, kStart), (std::array{0, 0, 1000}));
  p.threshold = Depth::packets(0);
  marker = marker_at(1'000);
  adopt(marker, p, kStart);
  EXPECT_EQ(offer(marker, 2, kIn, 600, kStart), (std::array{1, 0, 1}));
}

TEST(ArdMarkerAdopt, TheRunningIntervalGoesOnUnlessItsLengthChanges) {
  ArdMarker same(paper(8_Mbps), kStart, 1), other(paper(8_Mbps), kStart, 1);
  ArdParams shorter = paper(8_Mbps);
  shorter.interval = 10s;
  for (ArdMarker* m : {&same, &other}) {
    offer(*m, 30, kIn, 1000, kStart);
    offer(*m, 10, kOut, 1000, kStart);
  }
  adopt(same, paper(8_Mbps), kStart + 50s);
  adopt(other, shorter, kStart + 50s);
  EXPECT_EQ(same.next_event(), kStart + 100s);
  EXPECT_EQ(other.next_event(), kStart + 60s);
  for (ArdMarker* m : {&same, &other}) offer(*m, 10, kOut, 1000, kStart + 51s);
  same.advance(kStart + 100s);
  other.advance(kStart + 60s);
  EXPECT_EQ(same.lambda_in(), 300);
  EXPECT_EQ(same.lambda_out(), 200);
  EXPECT_EQ(same.tpr(), 4800_kbps);
  EXPECT_EQ(other.lambda_in(), 0) << "what came before is not of the new interval";
  EXPECT_EQ(other.lambda_out(), 1000);
  EXPECT_EQ(other.tpr(), 0_bps);
}

}  // namespace
}  // namespace surety
