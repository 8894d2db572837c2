// SPDX-License-Identifier: BSD-3-Clause
#include "conditioners/units.h"

#include <gtest/gtest.h>

namespace surety {
namespace {

using namespace literals;

TEST(Units, LiteralsAreExact) {
  EXPECT_EQ((34_Mbps).bits_per_second(), 34'000'000u);
  EXPECT_EQ((400_kbps).bits_per_second(), 400'000u);
  EXPECT_EQ((100_Gbps).bits_per_second(), 100'000'000'000u);
  EXPECT_EQ(1_bps + 2_bps, 3_bps);
  EXPECT_EQ((64_kB).count(), 64'000u);
  EXPECT_EQ((1_MB).bits(), 8'000'000u);
  EXPECT_EQ(Rate::bytes_per_second(125), 1_kbps);
  EXPECT_EQ((1_bps).bytes_per_second(), 0.125);
}

TEST(Units, RateTimesFactorRoundsDown) {
  EXPECT_EQ(0.5 * 3_bps, 1_bps);
  EXPECT_EQ(0.4 * 1_Mbps, 400_kbps);
}

TEST(Units, ProbabilityIsClampedWhenMade) {
  EXPECT_EQ(Probability(-0.1).value(), 0);
  EXPECT_EQ(Probability(1.5).value(), 1);
  EXPECT_EQ(Probability(0.02).value(), 0.02);
  EXPECT_EQ(Probability().value(), 0);
}

TEST(Units, RatioStepsAddUpExactly) {
  Ratio alpha = Ratio::of(0.04);
  for (int i = 0; i < 18; ++i) alpha = alpha + Ratio::of(0.02);
  EXPECT_EQ(alpha, Ratio::of(0.4));
  for (int i = 0; i < 18; ++i) alpha = alpha - Ratio::of(0.02);
  EXPECT_EQ(alpha.millionths(), 40'000u);
  EXPECT_EQ(Ratio::of(0.01) - Ratio::of(0.02), Ratio());
  EXPECT_DOUBLE_EQ(Ratio::of(0.4).value(), 0.4);
}

TEST(Units, DepthInPacketsCountsNominalPackets) {
  EXPECT_EQ(Depth::packets(10).bytes(576_B), 5760_B);
  EXPECT_EQ(Depth::bytes(10).bytes(576_B), 10_B);
  EXPECT_FALSE(Depth::packets(10) == Depth::bytes(10));
}

TEST(Units, TransmissionTimeRoundsUp) {
  EXPECT_EQ(transmission_time(1500_B, 1_Mbps), 12ms);
  EXPECT_EQ(transmission_time(1_B, 3_bps), 2'666'666'667ns);
  EXPECT_EQ(transmission_time(0_B, 1_bps), 0ns);
  EXPECT_EQ(transmission_time(64_B, 100_Gbps), 6ns);          // 5.12
  EXPECT_EQ(transmission_time(1'000'000_MB, 1_Gbps), 8000s);  // bits * 10^9 beyond 64 bits
}

TEST(Units, SecondsOfADuration) {
  EXPECT_DOUBLE_EQ(seconds(1500ms), 1.5);
  EXPECT_EQ(kNever, Time::max());
}

}  // namespace
}  // namespace surety
