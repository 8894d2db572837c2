// SPDX-License-Identifier: BSD-3-Clause
#include "aqm/class_scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "conditioners/rng.h"

namespace surety {
namespace {

using namespace literals;

constexpr Time kStart{};
constexpr WireOverhead kEthernet{WireOverhead::Kind::bytes, 38};
constexpr WireOverhead kAtm{WireOverhead::Kind::atm, 0};

ClassParams strict(std::optional<Rate> cap = {}, std::uint32_t limit = 1000) {
  return {.name = "strict", .strict = true, .cap = cap, .weight = 1, .queue = {.limit = limit, .rio = {}}};
}
ClassParams weighted(std::uint32_t weight, std::uint32_t limit = 1000) {
  return {
      .name = "weighted", .strict = false, .cap = {}, .weight = weight, .queue = {.limit = limit, .rio = {}}};
}

// `flow` tells the class in these tests, `length` the order.
bool put(ClassScheduler& s, std::size_t class_index, std::uint16_t length, Time now = kStart) {
  const Packet packet{.flow = static_cast<FlowId>(class_index), .length = length};
  return s.enqueue(class_index, packet, false, now).drop == DropReason::none;
}

// Class of the next packet, -1 when nothing may leave.
int next_class(ClassScheduler& s, Time now = kStart) {
  Packet packet;
  return s.dequeue(now, packet) ? static_cast<int>(packet.flow) : -1;
}

TEST(ClassScheduler, ServesStrictClassesInTheirOrderThenWeightedOnes) {
  ClassScheduler s({weighted(1), strict(), strict()}, {}, kStart, 1);
  EXPECT_EQ(s.classes(), 3u);
  put(s, 0, 100);
  put(s, 2, 100);
  put(s, 2, 100);
  put(s, 1, 100);
  EXPECT_EQ(next_class(s), 1);
  EXPECT_EQ(next_class(s), 2);
  put(s, 1, 100);
  EXPECT_EQ(next_class(s), 1);
  EXPECT_EQ(next_class(s), 2);
  EXPECT_EQ(next_class(s), 0);
  EXPECT_EQ(next_class(s), -1);
}

TEST(ClassScheduler, ReturnsWhatTheQueueSaysOfAnArrival) {
  ClassScheduler s({weighted(1, 2)}, {}, kStart, 1);
  EXPECT_TRUE(put(s, 0, 100));
  EXPECT_TRUE(put(s, 0, 100));
  EXPECT_FALSE(put(s, 0, 100));
  EXPECT_EQ(s.depth(), 2u);
  EXPECT_EQ(s.queue(0).counters(Precedence::out).overflow_drops, 1u);
}

// Quanta 2 and 1 times 1500 bytes: two full packets, then one.
TEST(ClassScheduler, GivesEachBackloggedClassItsQuantumPerRound) {
  ClassScheduler s({weighted(2), weighted(1)}, {}, kStart, 1);
  EXPECT_EQ(s.quantum_unit(), 1500u);
  for (int i = 0; i < 6; ++i) {
    put(s, 0, 1500);
    put(s, 1, 1500);
  }
  for (const int expected : {0, 0, 1, 0, 0, 1, 0, 0, 1, 1, 1, 1, -1}) EXPECT_EQ(next_class(s), expected);
}

TEST(ClassScheduler, KeepsTheWeightsExactThoughNoneDividesAFullPacket) {
  EXPECT_EQ(ClassScheduler({weighted(7), weighted(9)}, {}, kStart, 1).quantum_unit(), 215u);  // 1505 and 1935
  EXPECT_EQ(ClassScheduler({weighted(5000), weighted(9000)}, {}, kStart, 1).quantum_unit(), 1u);
  EXPECT_EQ(ClassScheduler({weighted(1)}, kEthernet, kStart, 1).quantum_unit(), 1538u);
}

TEST(ClassScheduler, ServesPacketsLargerThanTheQuantum) {
  ClassScheduler s({weighted(1), weighted(1)}, {}, kStart, 1);
  put(s, 0, 9000);
  for (int i = 0; i < 10; ++i) put(s, 1, 1500);
  // Class 0 has saved 9000 bytes after five rounds beyond its first.
  for (const int expected : {1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1}) EXPECT_EQ(next_class(s), expected);
}

TEST(ClassScheduler, AClassThatWasAwayHasSavedNothing) {
  ClassScheduler s({weighted(1), weighted(1)}, {}, kStart, 1);
  put(s, 0, 100);
  EXPECT_EQ(next_class(s), 0);
  for (int i = 0; i < 4; ++i) put(s, 1, 1500);
  EXPECT_EQ(next_class(s), 1);
  for (int i = 0; i < 4; ++i) put(s, 0, 1500);
  for (const int expected : {0, 1, 0, 1, 0, 1, 0}) EXPECT_EQ(next_class(s), expected);
}

struct Shares {
  std::vector<std::uint32_t> weights;
  WireOverhead overhead;
};

class WeightedShares : public testing::TestWithParam<Shares> {};

// All classes backlogged, each with its own mix of sizes: bytes of the wire follow the weights, in the long
// run to a thousandth, and between any two classes never further apart than one quantum and two packets.
TEST_P(WeightedShares, FollowTheWeights) {
  const auto& [weights, overhead] = GetParam();
  std::vector<ClassParams> classes;
  for (const std::uint32_t w : weights) classes.push_back(weighted(w));
  ClassScheduler s(classes, overhead, kStart, 1);
  Rng rng(5);
  const auto size = [&rng](std::size_t c) {
    return static_cast<std::uint16_t>(c % 2 == 0 ? 40 + rng.next() % 1461 : 40 + rng.next() % 200);
  };
  for (std::size_t c = 0; c < weights.size(); ++c) {
    for (int i = 0; i < 10; ++i) put(s, c, size(c));
  }
  std::vector<double> bytes(weights.size());
  const double packet = overhead.wire_bytes(1500);
  for (int i = 0; i < 300000; ++i) {
    Packet p;
    ASSERT_TRUE(s.dequeue(kStart, p));
    bytes[p.flow] += overhead.wire_bytes(p.length);
    put(s, p.flow, size(p.flow));
    for (std::size_t a = 0; a < weights.size(); ++a) {
      ASSERT_LE(std::abs(bytes[a] / weights[a] - bytes[p.flow] / weights[p.flow]),
                s.quantum_unit() + packet / weights[a] + packet / weights[p.flow]);
    }
  }
  double total_weight = 0, total = 0;
  for (std::size_t c = 0; c < weights.size(); ++c) {
    total_weight += weights[c];
    total += bytes[c];
  }
  for (std::size_t c = 0; c < weights.size(); ++c) {
    EXPECT_NEAR(bytes[c] / total, weights[c] / total_weight, 0.001 * weights[c] / total_weight);
  }
}

INSTANTIATE_TEST_SUITE_P(Weights, WeightedShares,
                         testing::Values(Shares{{1, 1}, {}}, Shares{{9, 3, 1}, {}},
                                         Shares{{7, 9, 11, 13}, kEthernet}, Shares{{1, 20}, kAtm},
                                         Shares{{4, 3, 2, 1}, kAtm}));

// Arrivals, departures and time at random: nothing is lost, nothing overtakes within its class, something
// leaves whenever something uncapped waits, and no weighted packet leaves while an uncapped strict one waits.
TEST(ClassScheduler, IsWorkConservingAndLosesNothing) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    ClassScheduler s({strict({}, 20), strict(1_Mbps, 20), weighted(9, 50), weighted(3, 50), weighted(1, 50)},
                     kEthernet, kStart, seed);
    Rng rng(seed);
    std::vector<std::uint64_t> entered(5), left(5);
    const auto waiting = [&](std::size_t c) { return entered[c] - left[c]; };
    Time now = kStart;
    for (int i = 0; i < 20000; ++i) {
      now += Duration(rng.next() % 100'000);
      if (rng.uniform() < (i / 1000 % 2 == 0 ? 0.7 : 0.3)) {
        const std::size_t c = rng.next() % 5;
        Packet p{.flow = static_cast<FlowId>(c),
                 .length = static_cast<std::uint16_t>(40 + rng.next() % 1461)};
        p.handle = reinterpret_cast<void*>(entered[c]);
        entered[c] += s.enqueue(c, p, false, now).drop == DropReason::none;
      } else {
        const std::uint64_t uncapped = waiting(0) + waiting(2) + waiting(3) + waiting(4);
        const Time event = s.next_event(now);
        Packet p;
        const bool any = s.dequeue(now, p);
        ASSERT_EQ(any, event == now);
        ASSERT_TRUE(any || uncapped == 0);
        if (any) {
          ASSERT_TRUE(p.flow == 0 || waiting(0) == 0);
          ASSERT_EQ(p.handle, reinterpret_cast<void*>(left[p.flow]++));
        }
      }
      std::uint64_t depth = 0;
      for (std::size_t c = 0; c < 5; ++c) {
        ASSERT_EQ(s.queue(c).depth(), waiting(c));
        const QueueCounters& counters = s.queue(c).counters(Precedence::out);
        ASSERT_EQ(counters.arrivals, counters.departures + counters.overflow_drops + waiting(c));
        depth += waiting(c);
      }
      ASSERT_EQ(s.depth(), depth);
    }
    EXPECT_GT(*std::min_element(left.begin(), left.end()), 100u);
  }
}

// ---- caps

// A saturating class at 2 Mbit/s of the wire: in every interval within one burst and one packet of its rate.
TEST(ClassScheduler, CapsAStrictClassExactly) {
  ClassScheduler s({strict(2_Mbps), weighted(1)}, kEthernet, kStart, 1);
  const double packet = 1238, burst = static_cast<double>(default_burst(2_Mbps).count());
  for (int i = 0; i < 10; ++i) put(s, 0, 1200);
  double sent = 0, lowest = 0, highest = 0;
  for (Time now = kStart; now < kStart + 60s; now = s.next_event(now)) {
    while (next_class(s, now) == 0) {
      lowest = std::min(lowest, sent - 250'000 * seconds(now - kStart));
      sent += packet;
      put(s, 0, 1200, now);
    }
    const double ahead = sent - 250'000 * seconds(now - kStart);
    ASSERT_LE(ahead - lowest, burst + packet);
    highest = std::max(highest, ahead);
    ASSERT_GE(ahead, highest - packet);
  }
  EXPECT_NEAR(sent, 250'000 * 60.0 + burst, packet);
}

TEST(ClassScheduler, ACapHoldsItsClassBackAndNobodyElse) {
  ClassScheduler s({strict(1_Mbps), strict(), weighted(1)}, {}, kStart, 1);
  for (int i = 0; i < 4; ++i) put(s, 0, 1500);
  put(s, 1, 1500);
  put(s, 2, 1500);
  for (const int expected : {0, 0, 1, 2, -1}) EXPECT_EQ(next_class(s), expected);
  EXPECT_EQ(s.depth(), 2u);
}

TEST(ClassScheduler, SaysWhenSomethingCanLeave) {
  ClassScheduler s({strict(1_Mbps), strict(8_Mbps), weighted(1)}, {}, kStart, 1);
  EXPECT_EQ(s.next_event(kStart + 1s), kNever);
  for (int i = 0; i < 4; ++i) {
    put(s, 0, 1500);
    put(s, 1, 1500);
  }
  EXPECT_EQ(s.next_event(kStart), kStart);
  for (const int expected : {0, 0, 1, 1, -1}) EXPECT_EQ(next_class(s), expected);
  // Both buckets are empty; the first unit of credit opens them.
  const Time next = s.next_event(kStart);
  EXPECT_GT(next, kStart);
  EXPECT_LE(next, kStart + 2ns);
  EXPECT_EQ(next_class(s, next), 0);
  EXPECT_EQ(next_class(s, next), 1);
  const Time second = s.next_event(next);  // the faster cap's: 1500 bytes at 8 Mbit/s
  EXPECT_GE(second, kStart + 1500us);
  EXPECT_LE(second, kStart + 1500us + 3ns);
  EXPECT_EQ(next_class(s, kStart + 1499us), -1);
  put(s, 2, 100, kStart + 1499us);
  EXPECT_EQ(s.next_event(kStart + 1499us), kStart + 1499us);
  EXPECT_EQ(next_class(s, kStart + 1499us), 2);
  EXPECT_EQ(next_class(s, second), 1);
}

TEST(ClassScheduler, QueuesDrawDifferentRandomNumbers) {
  ClassParams params = weighted(1);
  params.queue.rio = RioParams{.weight = 1,
                               .in = {.min = 1, .max = 2, .pmax = Probability(1)},
                               .out = {.min = 0, .max = 1000, .pmax = Probability(0.9)}};
  ClassScheduler s({params, params}, {}, kStart, 1);
  std::vector<bool> a, b;
  for (int i = 0; i < 100; ++i) {
    a.push_back(put(s, 0, 100));
    b.push_back(put(s, 1, 100));
  }
  EXPECT_NE(a, b);
}

// Strict before weighted, and as many as the shaper lets, with its debt:
// the same whether one class is alone or not.
TEST(ClassScheduler, FillsABurstAsTheShaperLets) {
  ClassScheduler s({strict(), weighted(1), weighted(1)}, {}, kStart, 1);
  PortShaper shaper({.rate = 8_Mbps, .burst = 3000_B, .overhead = {}}, kStart);
  put(s, 0, 1000);
  for (int i = 0; i < 5; ++i) put(s, 1, 1000);
  std::array<Packet, 10> out;
  EXPECT_EQ(s.dequeue(kStart, shaper, out), 3u) << "3000 bytes of credit, used up exactly";
  EXPECT_EQ(out[0].flow, 0u);
  EXPECT_EQ(out[1].flow, 1u);
  EXPECT_EQ(s.depth(), 3u);
  shaper.advance(kStart + 1ms);  // 1000 bytes
  EXPECT_EQ(s.dequeue(kStart + 1ms, shaper, out), 1u);
  PortShaper unlimited({}, kStart);
  EXPECT_EQ(s.dequeue(kStart + 1ms, unlimited, std::span(out).first(1)), 1u) << "no more than there is room";
  EXPECT_EQ(s.dequeue(kStart + 1ms, unlimited, out), 1u);
  EXPECT_EQ(s.dequeue(kStart + 1ms, unlimited, out), 0u);
  EXPECT_EQ(s.depth(), 0u);
  put(s, 1, 100);  // the class that left alone takes part again
  put(s, 2, 100);
  EXPECT_EQ(s.dequeue(kStart + 1ms, unlimited, out), 2u);
}

// A burst of one class is counted, and takes its turn, as its packets would one by one.
TEST(ClassScheduler, TakesABurstOfOneClass) {
  ClassParams shallow = weighted(1);
  shallow.queue.limit = 2;
  ClassScheduler s({strict(), weighted(1), shallow}, {}, kStart, 1);
  const std::vector<Packet> burst(3, Packet{.length = 100});
  const std::array<bool, 3> ecn{};
  std::array<ActiveQueue::Notice, 3> notices;
  EXPECT_EQ(s.enqueue(2, burst, ecn, notices, kStart), 1u);
  EXPECT_EQ(notices[0].index, 2);
  EXPECT_EQ(notices[0].result.drop, DropReason::overflow);
  EXPECT_EQ(s.enqueue(0, burst, ecn, notices, kStart), 0u);
  EXPECT_EQ(s.enqueue(1, burst, ecn, notices, kStart), 0u);
  EXPECT_EQ(s.enqueue(1, burst, ecn, notices, kStart), 0u) << "its class has its turn already";
  EXPECT_EQ(s.depth(), 2u + 3 + 6);
  PortShaper unlimited({}, kStart);
  std::array<Packet, 20> out;
  EXPECT_EQ(s.dequeue(kStart, unlimited, std::span(out).first(3)), 3u);
  EXPECT_TRUE(s.queue(0).empty()) << "strict ones are first";
  EXPECT_EQ(s.dequeue(kStart, unlimited, out), 8u);
  EXPECT_EQ(s.depth(), 0u);
  const std::span<const Packet> none;
  EXPECT_EQ(s.enqueue(1, none, {}, notices, kStart), 0u);
  EXPECT_EQ(s.next_event(kStart), kNever) << "a burst of nothing wakes no class";
}

// But for a class that is alone, which needs no rounds: two of them always have packets.
TEST(ClassScheduler, ABurstLeavesAsItsPacketsWouldOneByOne) {
  const std::vector<ClassParams> classes{weighted(1, 4000), strict(20_Mbps), strict(), weighted(3, 4000)};
  ClassScheduler one(classes, kEthernet, kStart, 1), burst(classes, kEthernet, kStart, 1);
  PortShaper of_one({.rate = 400_Mbps, .burst = 20'000_B, .overhead = kEthernet}, kStart), of_burst = of_one;
  Rng rng(1);
  std::array<std::uint32_t, 4> left{};
  std::uint32_t short_of_room = 0;
  Time now = kStart;
  for (int round = 0; round < 5000; ++round) {
    now += Duration(rng.next() % 400'000);
    for (std::size_t c = 0; c < classes.size(); ++c)
      for (auto n = classes[c].strict ? rng.next() % 8 : 80 - std::min(80u, one.queue(c).depth()); n > 0;
           --n) {
        const auto length = static_cast<std::uint16_t>(40 + rng.next() % 1461);
        ASSERT_EQ(put(one, c, length, now), put(burst, c, length, now));
      }
    of_one.advance(now);
    of_burst.advance(now);
    std::array<Packet, 64> out;
    const std::size_t room = rng.next() % 65, n = burst.dequeue(now, of_burst, std::span(out).first(room));
    for (std::size_t i = 0; i < n; ++i) {
      Packet p;
      ASSERT_TRUE(of_one.ready() && one.dequeue(now, p));
      of_one.sent(p.length);
      ASSERT_EQ(std::tie(p.flow, p.length), std::tie(out[i].flow, out[i].length));
      ++left[p.flow];
    }
    ASSERT_EQ(burst.depth(), one.depth());
    ASSERT_EQ(of_burst.next_event(now), of_one.next_event(now));
    ASSERT_TRUE(n == room || !of_one.ready()) << "there is always something to send";
    short_of_room += n == room;
  }
  EXPECT_GT(*std::ranges::min_element(left), 1000u);
  EXPECT_GT(short_of_room, 1000u);
  EXPECT_LT(short_of_room, 4000u);
}

// ---- other parameters

std::vector<ClassParams> with_weights(const std::vector<std::uint32_t>& weights) {
  std::vector<ClassParams> classes;
  for (const std::uint32_t w : weights) classes.push_back(weighted(w));
  return classes;
}

void change(ClassScheduler& s, const std::vector<ClassParams>& classes, WireOverhead overhead = {},
            Time now = kStart) {
  ClassScheduler fresh(classes, overhead, now, 2);
  s.adopt(fresh, {}, now);
}

TEST(ClassSchedulerAdopt, PacketsStayInTheirOrder) {
  ClassScheduler s({strict(), weighted(1), weighted(1)}, {}, kStart, 1);
  for (std::uint16_t i = 0; i < 20; ++i)
    for (std::size_t c = 0; c < 3; ++c) put(s, c, static_cast<std::uint16_t>(100 + i));
  change(s, {strict(), weighted(5), weighted(2)}, kEthernet);
  EXPECT_EQ(s.depth(), 60u);
  EXPECT_EQ(s.quantum_unit(), 769u);
  std::array<std::uint16_t, 3> next{100, 100, 100};
  for (Packet p; s.dequeue(kStart, p);) ASSERT_EQ(p.length, next[p.flow]++);
  EXPECT_EQ(next, (std::array<std::uint16_t, 3>{120, 120, 120}));
  EXPECT_EQ(s.depth(), 0u);
}

// Nobody is empty, the weights change at random times: from each change on, bytes over weights are no further
// apart than the header says.
TEST(ClassSchedulerAdopt, SharesFollowTheNewWeightsFromTheChangeOn) {
  const std::vector<std::vector<std::uint32_t>> kWeights{{1, 1, 1},    {9, 3, 1},  {1, 3, 9},
                                                         {100, 1, 50}, {7, 9, 11}, {2000, 3000, 5000}};
  for (const WireOverhead overhead : {WireOverhead{}, kEthernet, kAtm}) {
    Rng rng(6);
    std::vector<std::uint32_t> weights = kWeights[0];
    ClassScheduler s(with_weights(weights), overhead, kStart, 1);
    const auto size = [&rng] { return static_cast<std::uint16_t>(40 + rng.next() % 1461); };
    for (std::size_t c = 0; c < 3; ++c)
      for (int i = 0; i < 10; ++i) put(s, c, size());
    std::array<double, 3> bytes{};
    const double packet = overhead.wire_bytes(1500);
    for (int i = 0; i < 200'000; ++i) {
      if (rng.next() % 200 == 0) {
        change(s, with_weights(weights = kWeights[rng.next() % kWeights.size()]), overhead);
        bytes = {};
      }
      Packet p;
      ASSERT_TRUE(s.dequeue(kStart, p));
      bytes[p.flow] += overhead.wire_bytes(p.length);
      put(s, p.flow, size());
      for (std::size_t a = 0; a < 3; ++a)
        ASSERT_LE(std::abs(bytes[a] / weights[a] - bytes[p.flow] / weights[p.flow]),
                  s.quantum_unit() + packet / weights[a] + packet / weights[p.flow]);
    }
  }
}

TEST(ClassSchedulerAdopt, TheSameParametersChangeNoTurn) {
  const std::vector<std::uint32_t> weights{3, 1, 2};
  ClassScheduler one(with_weights(weights), {}, kStart, 1), other(with_weights(weights), {}, kStart, 1);
  Rng rng(7);
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t c = rng.next() % 3;
    const auto length = static_cast<std::uint16_t>(40 + rng.next() % 9000);
    for (ClassScheduler* s : {&one, &other}) put(*s, c, length);
    if (rng.next() % 3 == 0) change(one, with_weights(weights));
    if (i < 100) continue;
    ASSERT_EQ(next_class(one), next_class(other)) << i;
  }
}

TEST(ClassSchedulerAdopt, CountsWithTheNewOverhead) {
  ClassScheduler s({weighted(1), weighted(1)}, {}, kStart, 1);
  for (int i = 0; i < 10; ++i) put(s, 0, 46), put(s, 1, 1500);
  for (int i = 0; i < 100; ++i) put(s, 0, 46);
  change(s, {weighted(1), weighted(1)}, kEthernet);
  std::array<int, 2> bytes{};
  for (int i = 0; i < 50'000; ++i) {
    const int c = next_class(s);
    const std::uint16_t length = c == 0 ? 46 : 1500;
    bytes[static_cast<std::size_t>(c)] += static_cast<int>(kEthernet.wire_bytes(length));
    put(s, static_cast<std::size_t>(c), length);
    ASSERT_LE(std::abs(bytes[0] - bytes[1]), 1538 + 84 + 1538);
  }
}

// 1000 bytes at 8 Mbit/s are 1 ms; the burst of a cap is 3000 bytes.
TEST(ClassSchedulerAdopt, CapsComeGoAndChange) {
  ClassScheduler s({strict(8_Mbps), weighted(1)}, {}, kStart, 1);
  for (int i = 0; i < 20; ++i) put(s, 0, 1000);
  for (const int expected : {0, 0, 0, -1}) EXPECT_EQ(next_class(s), expected);
  change(s, {strict(80_Mbps), weighted(1)});
  EXPECT_EQ(s.next_event(kStart), kStart + 1ns);
  EXPECT_EQ(next_class(s, kStart + 1ns), 0);
  EXPECT_EQ(s.next_event(kStart + 1ns), kStart + 100us + 1ns) << "at the new rate";
  change(s, {strict(), weighted(1)}, {}, kStart + 1ns);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(next_class(s, kStart + 1ns), 0) << "no cap";
  change(s, {strict(8_Mbps), weighted(1)}, {}, kStart + 1ns);
  for (const int expected : {0, 0, 0, -1}) EXPECT_EQ(next_class(s, kStart + 1ns), expected);
  EXPECT_EQ(s.depth(), 3u);
}

TEST(ClassSchedulerAdopt, RingsGrowASliceAtATime) {
  ClassScheduler s({strict({}, 7), weighted(1, 7), weighted(1, 7)}, {}, kStart, 1);
  for (std::uint16_t i = 0; i < 7; ++i)
    for (const std::size_t c : {0u, 1u}) put(s, c, static_cast<std::uint16_t>(100 + i));
  change(s, {strict({}, 100), weighted(1, 100), weighted(1, 7)});
  EXPECT_FALSE(put(s, 0, 107)) << "the old ring is full";
  EXPECT_TRUE(s.grow(6));
  EXPECT_TRUE(s.grow(6)) << "7 and 5 of the 14";
  EXPECT_TRUE(put(s, 0, 107)) << "the first is done";
  EXPECT_FALSE(put(s, 1, 107));
  EXPECT_FALSE(s.grow(2));
  EXPECT_TRUE(put(s, 1, 107));
  std::array<std::uint16_t, 2> next{100, 100};
  for (Packet p; s.dequeue(kStart, p);) ASSERT_EQ(p.length, next[p.flow]++);
  EXPECT_EQ(next, (std::array<std::uint16_t, 2>{108, 108}));
}

}  // namespace
}  // namespace surety
