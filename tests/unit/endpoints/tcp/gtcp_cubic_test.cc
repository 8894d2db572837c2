// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/gtcp_cubic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace {

TEST(GtcpCubeRoot, IsExactForWholeCubesAndRoundsDown) {
  EXPECT_EQ(gtcp_cube_root(0), 0u);
  EXPECT_EQ(gtcp_cube_root(7), 1u);
  EXPECT_EQ(gtcp_cube_root(8), 2u);
  EXPECT_EQ(gtcp_cube_root(1'000'000'000), 1000u);
  EXPECT_EQ(gtcp_cube_root(999'999'999), 999u);
  EXPECT_EQ(gtcp_cube_root(~0ull), 2642245u);  // 2642245^3 < 2^64 < 2642246^3
}

TEST(GtcpCubic, AReductionKeepsSevenTenths) {
  gtcp_cubic c{};
  EXPECT_EQ(gtcp_cubic_reduce(&c, 100), 70u);
  EXPECT_EQ(c.largest, 100u);
  EXPECT_EQ(c.prior, 100u);
  EXPECT_EQ(gtcp_cubic_reduce(&c, 2), 2u);  // Reno's least
}

TEST(GtcpCubic, FastConvergenceLowersTheTurningPoint) {
  gtcp_cubic c{};
  gtcp_cubic_reduce(&c, 100);
  EXPECT_EQ(gtcp_cubic_reduce(&c, 80), 56u);
  EXPECT_EQ(c.largest, 68u);  // 80 (1 + 0.7) / 2
  EXPECT_EQ(gtcp_cubic_reduce(&c, 90), 63u);
  EXPECT_EQ(c.largest, 90u);  // above the last one: no convergence
}

// W_max = 100, 70 after the reduction: K = cbrt(30 / 0.4) = 4.217 s.
TEST(GtcpCubic, FollowsTheFormulaOfTheRfc) {
  gtcp_cubic c{};
  gtcp_cubic_begin(&c, gtcp_cubic_reduce(&c, 100), 5000);
  EXPECT_EQ(c.turn_ms, 4217u);
  for (const std::uint64_t ms : {0u, 1000u, 2500u, 4217u, 6000u, 10'000u, 60'000u}) {
    const double d = static_cast<double>(ms) / 1000 - std::cbrt(75.0);
    EXPECT_NEAR(static_cast<double>(gtcp_cubic_window(&c, ms)) / 1024, 0.4 * d * d * d + 100,
                0.002 + 0.0012 * d * d)  // K is whole milliseconds
        << ms;
  }
  EXPECT_EQ(gtcp_cubic_window(&c, 4217), 100u << 10);
}

TEST(GtcpCubic, HoldsAtTheEdgesOfItsRange) {
  gtcp_cubic c{};
  c.largest = 1u << 30;
  gtcp_cubic_begin(&c, 2, 1);
  EXPECT_EQ(c.turn_ms, 1389781u);  // cbrt((2^30 - 2) / 0.4) s
  EXPECT_EQ(gtcp_cubic_window(&c, 0), ((1ull << 30) - 400'000) << 10);
  EXPECT_EQ(gtcp_cubic_window(&c, ~0ull), ((1ull << 30) + 400'000) << 10);
  c.largest = 10;
  EXPECT_EQ(gtcp_cubic_window(&c, 0), 0u);
}

TEST(GtcpCubic, TheTargetIsARoundTripAheadAndAtMostHalfAbove) {
  gtcp_cubic c{};
  gtcp_cubic_begin(&c, gtcp_cubic_reduce(&c, 1000), 1);
  EXPECT_EQ(c.turn_ms, 9085u);  // cbrt(750)
  // One second into the epoch, with a round trip of 100 ms.
  EXPECT_EQ(gtcp_cubic_target(&c, 780, 780, 1, 1001, 100), gtcp_cubic_window(&c, 1100));
  EXPECT_EQ(gtcp_cubic_target(&c, 990, 990, 1, 1001, 100), 990u << 10);  // W_cubic is below: no decrease
  EXPECT_EQ(gtcp_cubic_target(&c, 500, 500, 1, 9001, 100), 750u << 10);
}

// On a short path the window grows as Reno's would: by alpha a round trip up to cwnd_prior, then by one.
TEST(GtcpCubic, WhereRenoIsFasterItIsReno) {
  gtcp_cubic c{};
  gtcp_cubic_begin(&c, gtcp_cubic_reduce(&c, 20), 1);  // 14
  std::uint64_t target = 0;
  for (int acks = 0; acks < 140; ++acks) target = gtcp_cubic_target(&c, 14, 14, 1, 2, 1);
  EXPECT_NEAR(static_cast<double>(target) / 1024, 14 + 10 * 9.0 / 17, 0.002);
  c.estimate = 20ull << 20;
  for (int acks = 0; acks < 40; ++acks) target = gtcp_cubic_target(&c, 20, 20, 1, 2, 1);
  EXPECT_NEAR(static_cast<double>(target) / 1024, 22, 0.002);
}

// Of the whole window's ACKs the best-effort part takes all: the same growth in a round trip.
TEST(GtcpCubic, TheReservedPartDoesNotSpeedItUp) {
  gtcp_cubic c{};
  gtcp_cubic_begin(&c, gtcp_cubic_reduce(&c, 20), 1);
  std::uint64_t target = 0;
  for (int acks = 0; acks < 114; ++acks) target = gtcp_cubic_target(&c, 14, 114, 1, 2, 1);
  EXPECT_NEAR(static_cast<double>(target) / 1024, 14 + 9.0 / 17, 0.002);
}

// W_max = 1000 and K = 9.085 s: the window is at W_cubic after each round trip, a round trip late at most.
TEST(GtcpCubic, TheWindowFollowsTheCurve) {
  gtcp_cubic c{};
  std::uint32_t window = gtcp_cubic_reduce(&c, 1000);
  for (std::uint64_t now = 1; now < 12'001; now += 100) {
    window += gtcp_cubic_grow(&c, window, window, window, now, 100);
    const std::uint64_t from = gtcp_cubic_window(&c, now - 1) >> 10,
                        to = gtcp_cubic_window(&c, now + 99) >> 10;
    EXPECT_GE(window + 1, from) << now;
    EXPECT_LE(window, to + 1) << now;
  }
  EXPECT_EQ(window, 1010u);  // 0.4 (12 - 9.085)^3
}

TEST(GtcpCubic, ATimeInWhichTheApplicationLimitsIsNoPartOfTheEpoch) {
  gtcp_cubic c{};
  const std::uint32_t window = gtcp_cubic_reduce(&c, 1000);
  gtcp_cubic_grow(&c, window, window, 1, 1000, 100);
  gtcp_cubic_pause(&c, 61'000);
  EXPECT_EQ(c.start_ms, 61'000u);
  gtcp_cubic_grow(&c, window, window, 1, 61'100, 100);
  EXPECT_EQ(c.start_ms, 61'000u);
}

// A burst, 60 s of nothing, and a burst that the window limits at once: no ACK tells of the pause.
TEST(GtcpCubic, AnIdleTimeIsNoPartOfTheEpochEither) {
  gtcp_cubic c{};
  const std::uint32_t window = gtcp_cubic_reduce(&c, 1000);
  gtcp_cubic_grow(&c, window, window, 1, 1000, 100);
  gtcp_cubic_grow(&c, window, window, 1, 1101, 100);  // the next round trip, by a clock of whole milliseconds
  EXPECT_EQ(c.start_ms, 1000u);
  EXPECT_EQ(gtcp_cubic_grow(&c, window, window, 10, 61'202, 100), 0u);
  EXPECT_EQ(c.start_ms, 61'000u);  // of the 60,101 ms a round trip counts
}

}  // namespace
