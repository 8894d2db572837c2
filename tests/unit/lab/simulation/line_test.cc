// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/simulation/line.h"

#include <gtest/gtest.h>

#include "tests/unit/lab/simulation/bench.h"

namespace surety::lab {
namespace {

using namespace literals;

constexpr Time kStart{1s};

class LabLine : public testing::Test {
 protected:
  // Sends a packet; false: refused, and freed.
  static bool send(Line& line, std::uint32_t length, Time now) {
    rte_mbuf* m = nullptr;
    EXPECT_TRUE(test::pool().take({&m, 1}));
    const bool sent = line.send(m, length, now);
    if (!sent) rte_pktmbuf_free(m);
    return sent;
  }
  static LinkDirection direction(std::optional<Rate> rate, Duration delay) {
    LinkDirection d;
    d.rate = rate;
    d.delay = delay;
    return d;
  }
};

TEST_F(LabLine, ArrivalIsTransmissionPlusDelay) {
  Line line(direction(1_Mbps, 5ms), 1, kStart);
  ASSERT_TRUE(send(line, 1500, kStart));
  EXPECT_EQ(line.next_arrival(), kStart + 12ms + 5ms);
  EXPECT_EQ(line.free_at(), kStart + 12ms);
  line.discard();
}

TEST_F(LabLine, PacketsWaitForTheTransmitterAndKeepTheirOrder) {
  Line line(direction(1_Mbps, 5ms), 1, kStart);
  for (const std::uint32_t length : {1500u, 40u, 125u, 1500u}) ASSERT_TRUE(send(line, length, kStart));
  Time expected = kStart + 5ms;
  for (const auto time : {12000us, 320us, 1000us, 12000us}) {
    expected += time;
    EXPECT_EQ(line.next_arrival(), expected);
    rte_pktmbuf_free(line.take());
  }
  EXPECT_EQ(line.next_arrival(), kNever);
}

TEST_F(LabLine, WithoutARateOnlyTheDelayCounts) {
  Line line(direction({}, 3ms), 1, kStart);
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(send(line, 1500, kStart));  // more than the ring begins with
  EXPECT_EQ(line.in_flight(), 500u);
  for (int i = 0; i < 500; ++i) {
    ASSERT_EQ(line.next_arrival(), kStart + 3ms);
    rte_pktmbuf_free(line.take());
  }
}

TEST_F(LabLine, TheQueueHoldsItsLimitBesideThePacketBeingSent) {
  LinkDirection d = direction(1_Mbps, 0ms);
  d.queue = 2;
  Line line(d, 1, kStart);
  EXPECT_FALSE(line.holds_back());
  EXPECT_TRUE(send(line, 125, kStart));  // leaves at once, for 1 ms
  EXPECT_TRUE(send(line, 125, kStart));
  EXPECT_TRUE(send(line, 125, kStart));
  EXPECT_FALSE(send(line, 125, kStart));
  EXPECT_FALSE(send(line, 125, kStart + 1ms - 1ns));
  EXPECT_TRUE(send(line, 125, kStart + 1ms)) << "the second has begun to leave";
  EXPECT_EQ(line.counters().overflow, 2u);
  EXPECT_EQ(line.counters().packets, 4u);
  line.discard();
}

TEST_F(LabLine, AQueueOfNoPacketsTakesWhatTheIdleTransmitterTakes) {
  LinkDirection d = direction(1_Mbps, 0ms);
  d.queue = 0;
  Line line(d, 1, kStart);
  EXPECT_TRUE(send(line, 125, kStart));
  EXPECT_FALSE(send(line, 125, kStart));
  EXPECT_TRUE(send(line, 125, kStart + 1ms));
  line.discard();
}

TEST_F(LabLine, LosesItsShare) {
  LinkDirection d = direction({}, 0ms);
  d.loss = Probability(0.1);
  Line line(d, 7, kStart);
  for (int i = 0; i < 100'000; ++i) {
    send(line, 100, kStart);
    if (line.in_flight() > 0) rte_pktmbuf_free(line.take());
  }
  // Five standard deviations of a binomial.
  EXPECT_NEAR(static_cast<double>(line.counters().lost), 10'000, 5 * 95);
}

}  // namespace
}  // namespace surety::lab
