// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/linux/gtcp_window.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace {

constexpr std::uint32_t kForever = ~0u;        // no clamp
constexpr std::uint32_t kInfinite = 1u << 31;  // more than the kernel's TCP_INFINITE_SSTHRESH

// cwnd after an acknowledgement, and what it counted towards the next segment.
struct Grown {
  std::uint32_t cwnd, count;
  friend bool operator==(const Grown&, const Grown&) = default;
};
Grown grow(std::uint32_t cwnd, std::uint32_t count, std::uint32_t end, std::uint32_t acked,
           std::uint32_t clamp = kForever) {
  const gtcp_window w = gtcp_grow({cwnd, count}, end, acked, clamp);
  return {w.cwnd, w.count};
}

TEST(GtcpReserved, IsRateTimesRttInWholeSegmentsRoundedUp) {
  EXPECT_EQ(gtcp_reserved(500'000, 48'000, 1500), 16u);  // 4 Mbit/s for 48 ms: 24,000 bytes, exactly 16
  EXPECT_EQ(gtcp_reserved(500'000, 48'001, 1500), 17u);
  EXPECT_EQ(gtcp_reserved(500'000, 45'001, 1500), 16u);
  EXPECT_EQ(gtcp_reserved(1, 1, 1500), 1u);  // however little is reserved, it is not nothing
}

TEST(GtcpReserved, NothingWithoutARateAnRttOrASegment) {
  EXPECT_EQ(gtcp_reserved(0, 50'000, 1500), 0u);
  EXPECT_EQ(gtcp_reserved(500'000, 0, 1500), 0u);
  EXPECT_EQ(gtcp_reserved(500'000, 50'000, 0), 0u);
}

TEST(GtcpReserved, HoldsAtTheEdgesOfItsRange) {
  EXPECT_EQ(gtcp_reserved(GTCP_LARGEST_RATE, 1000, 1500), 83'334u);  // 1 Tbit/s for 1 ms
  EXPECT_EQ(gtcp_reserved(GTCP_LARGEST_RATE, GTCP_LONGEST_RTT_US, 9000), 833'333'334u);
  EXPECT_EQ(gtcp_reserved(~0ull, ~0u, 9000), 833'333'334u);  // beyond: as at the edge
  EXPECT_EQ(gtcp_reserved(~0ull, ~0u, 576), GTCP_LARGEST_RESERVED);
}

TEST(GtcpSsthresh, HalvesTheBestEffortPartOnly) {
  EXPECT_EQ(gtcp_ssthresh(100, 50, 0), 75u);  // the paper's example, II.B (1)
  EXPECT_EQ(gtcp_ssthresh(101, 50, 0), 75u);
  EXPECT_EQ(gtcp_ssthresh(54, 50, 0), 52u);
}

TEST(GtcpSsthresh, KeepsTwoSegmentsOfBestEffort) {
  for (const std::uint32_t cwnd : {53u, 51u, 50u, 30u, 1u})
    EXPECT_EQ(gtcp_ssthresh(cwnd, 50, 0), 52u) << cwnd;
}

TEST(GtcpSsthresh, CountsWhatATimeoutTookAsReserved) {
  EXPECT_EQ(gtcp_ssthresh(1, 50, 50), 52u);   // just after: the segment is best effort
  EXPECT_EQ(gtcp_ssthresh(60, 50, 10), 60u);  // 40 of the 60 are reserved, 20 best effort
  EXPECT_EQ(gtcp_ssthresh(60, 5, 10), 35u);   // the reservation has been lowered meanwhile
}

TEST(GtcpSsthresh, WithoutAReservationIsRenos) {
  for (const auto& [cwnd, half] :
       {std::pair{100u, 50u}, std::pair{11u, 5u}, std::pair{4u, 2u}, std::pair{3u, 2u}, std::pair{1u, 2u}})
    EXPECT_EQ(gtcp_ssthresh(cwnd, 0, 0), half) << cwnd;
}

TEST(GtcpSlowStartEnd, ADefaultIsForTheBestEffortPart) {
  EXPECT_EQ(gtcp_slow_start_end(64, 17, 0), 81u);
  EXPECT_EQ(gtcp_slow_start_end(0x7fffffff, 17, 0), 0x80000010u);
  EXPECT_EQ(gtcp_slow_start_end(~0u - 16, 17, 0), ~0u);
}

TEST(GtcpSlowStartEnd, OfALossHasTheReservedPartInIt) {
  EXPECT_EQ(gtcp_slow_start_end(gtcp_ssthresh(100, 50, 0), 50, 1), 75u);
}

TEST(GtcpOwedAfterTimeout, IsTheReservedPartLessWhatIsInFlight) {
  EXPECT_EQ(gtcp_owed_after_timeout(1, 17), 17u);  // nothing in flight
  EXPECT_EQ(gtcp_owed_after_timeout(6, 17), 12u);  // five are, and are not taken
  EXPECT_EQ(gtcp_owed_after_timeout(17, 17), 1u);
  EXPECT_EQ(gtcp_owed_after_timeout(18, 17), 0u);
  EXPECT_EQ(gtcp_owed_after_timeout(40, 17), 0u);  // a smaller MTU was found: the window stays
  EXPECT_EQ(gtcp_owed_after_timeout(1, 0), 0u);
}

TEST(GtcpGrow, SlowStartAddsASegmentForEachAcknowledgedOne) {
  EXPECT_EQ(grow(10, 0, kInfinite, 1), (Grown{11, 0}));
  EXPECT_EQ(grow(10, 3, kInfinite, 10), (Grown{20, 3}));
}

TEST(GtcpGrow, SlowStartEndsAtItsEndAndTheRestCountsTowardsAvoidance) {
  EXPECT_EQ(grow(10, 0, 12, 2), (Grown{12, 0}));
  EXPECT_EQ(grow(10, 0, 12, 5), (Grown{12, 3}));
  EXPECT_EQ(grow(2, 0, 3, 8), (Grown{5, 1}));  // one in slow start, then 7 of 3
}

TEST(GtcpGrow, AvoidanceAddsASegmentForEachWindowAcknowledged) {
  Grown g{10, 0};
  for (int i = 0; i < 9; ++i) g = grow(g.cwnd, g.count, 10, 1);
  EXPECT_EQ(g, (Grown{10, 9}));
  g = grow(g.cwnd, g.count, 10, 1);
  EXPECT_EQ(g, (Grown{11, 0}));
  for (int i = 0; i < 11; ++i) g = grow(g.cwnd, g.count, 10, 1);
  EXPECT_EQ(g, (Grown{12, 0}));
}

TEST(GtcpGrow, AnAckForManyCountsAllOfThem) {
  EXPECT_EQ(grow(10, 5, 10, 27), (Grown{13, 2}));
}

TEST(GtcpGrow, WhatALargerWindowEarnedIsWorthOneSegment) {
  EXPECT_EQ(grow(10, 35, 10, 1), (Grown{11, 1}));
}

TEST(GtcpGrow, StopsAtTheClamp) {
  EXPECT_EQ(grow(10, 0, kInfinite, 10, 15), (Grown{15, 0}));
  EXPECT_EQ(grow(15, 14, 10, 1, 15), (Grown{15, 0}));
}

TEST(GtcpGrow, SurvivesAnEmptyWindow) {
  EXPECT_EQ(grow(0, 0, 0, 1), (Grown{1, 0}));
}

}  // namespace
