// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/live/delay_line.h"

#include <gmock/gmock.h>

namespace surety::lab {
namespace {

using namespace literals;
using Frame = DelayLine::Frame;

constexpr Time kZero{};

// An Ethernet frame around so many IP bytes; the last one tells which it is.
Frame frame(std::size_t ip_bytes, std::uint8_t number = 0) {
  Frame f(14 + ip_bytes);
  f[12] = 0x08;
  f.back() = number;
  return f;
}

// The arrival of everything that is on the way: when, and which.
std::vector<std::pair<Duration, int>> drain(DelayLine& line) {
  std::vector<std::pair<Duration, int>> out;
  for (; line.next_arrival() != kNever; line.pop())
    out.emplace_back(line.next_arrival() - kZero, line.front().back());
  return out;
}

using testing::ElementsAre;
using testing::Pair;

TEST(LabLiveDelayLine, WithoutImpairmentAFrameIsThereAtOnceAsItWas) {
  DelayLine line({}, 1);
  EXPECT_EQ(line.next_arrival(), kNever);
  line.offer(frame(100, 7), kZero + 3ms);
  EXPECT_EQ(line.next_arrival(), kZero + 3ms);
  EXPECT_EQ(line.front(), frame(100, 7));
  EXPECT_EQ(line.in_flight(), 1u);
}

TEST(LabLiveDelayLine, DelayIsAddedAndOrderKept) {
  DelayLine line({.delay = 10ms}, 1);
  line.offer(frame(100, 1), kZero);
  line.offer(frame(100, 2), kZero + 1ms);
  EXPECT_THAT(drain(line), ElementsAre(Pair(10ms, 1), Pair(11ms, 2)));
}

TEST(LabLiveDelayLine, ARateCountsTheBytesOfTheIpPacket) {
  DelayLine line({.delay = 5ms, .rate = 1_Mbps}, 1);  // 1250 B in 10 ms
  line.offer(frame(1250, 1), kZero);
  line.offer(frame(125, 2), kZero + 4ms);   // waits for the first
  line.offer(frame(125, 3), kZero + 50ms);  // the line is idle again
  EXPECT_THAT(drain(line), ElementsAre(Pair(15ms, 1), Pair(16ms, 2), Pair(56ms, 3)));
}

TEST(LabLiveDelayLine, AQueueHoldsSoManyThatWaitBesideTheOneBeingSent) {
  DelayLine line({.rate = 1_Mbps, .queue = 2}, 1);
  for (std::uint8_t n = 1; n <= 4; ++n) line.offer(frame(1250, n), kZero);  // sent, waits, waits, too many
  line.offer(frame(1250, 5), kZero + 10ms);                                 // the second leaves the queue
  EXPECT_THAT(drain(line), ElementsAre(Pair(10ms, 1), Pair(20ms, 2), Pair(30ms, 3), Pair(40ms, 5)));
  EXPECT_EQ(line.counters().received, 5u);
  EXPECT_EQ(line.counters().overflowed, 1u);
  EXPECT_EQ(line.counters().lost, 0u);
}

TEST(LabLiveDelayLine, AQueueOfNoneTakesOnlyWhatCanBeSentAtOnce) {
  DelayLine line({.rate = 1_Mbps, .queue = 0}, 1);
  line.offer(frame(1250, 1), kZero);
  line.offer(frame(1250, 2), kZero + 9ms);
  line.offer(frame(1250, 3), kZero + 10ms);
  EXPECT_THAT(drain(line), ElementsAre(Pair(10ms, 1), Pair(20ms, 3)));
}

TEST(LabLiveDelayLine, WithoutALimitTheQueueTakesAll) {
  DelayLine line({.rate = 1_Mbps}, 1);
  for (int n = 0; n < 5000; ++n) line.offer(frame(125), kZero);
  EXPECT_EQ(line.in_flight(), 5000u);
  EXPECT_EQ(line.counters().overflowed, 0u);
}

TEST(LabLiveDelayLine, LossIsDrawnFromTheSeed) {
  const auto lost = [](std::uint64_t seed) {
    DelayLine line({.loss = Probability(0.25)}, seed);
    for (int n = 0; n < 4000; ++n) line.offer(frame(100), kZero);
    EXPECT_EQ(line.in_flight() + line.counters().lost, 4000u);
    return line.counters().lost;
  };
  EXPECT_NEAR(static_cast<double>(lost(1)), 1000, 110);  // four standard deviations
  EXPECT_EQ(lost(1), lost(1));
  EXPECT_NE(lost(1), lost(2));
}

Frame with_type(unsigned type) {
  Frame f(14 + 60);
  f[12] = static_cast<std::uint8_t>(type >> 8);
  f[13] = static_cast<std::uint8_t>(type);
  return f;
}
Frame icmpv6(std::uint8_t message, std::uint8_t next_header = 58) {
  Frame f = with_type(0x86dd);
  f[14 + 6] = next_header;
  f[14 + 40] = message;
  return f;
}

TEST(LabLiveDelayLine, DiscoveryIsArpAndItsSuccessor) {
  EXPECT_TRUE(is_discovery(with_type(0x0806)));
  for (std::uint8_t message = 133; message <= 137; ++message)
    EXPECT_TRUE(is_discovery(icmpv6(message))) << int{message};
}

TEST(LabLiveDelayLine, PacketsAreNoDiscovery) {
  EXPECT_FALSE(is_discovery(with_type(0x0800)));
  EXPECT_FALSE(is_discovery(with_type(0x8100)));
  EXPECT_FALSE(is_discovery(icmpv6(128))) << "an echo request";
  EXPECT_FALSE(is_discovery(icmpv6(138)));
  EXPECT_FALSE(is_discovery(icmpv6(135, 17))) << "UDP";
  EXPECT_FALSE(is_discovery(Frame(13, 0x08)));
  Frame cut = icmpv6(135);
  cut.resize(14 + 40);
  EXPECT_FALSE(is_discovery(cut));
}

}  // namespace
}  // namespace surety::lab
