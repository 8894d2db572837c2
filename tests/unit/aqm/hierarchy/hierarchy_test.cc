// SPDX-License-Identifier: BSD-3-Clause
#include "aqm/hierarchy/hierarchy.h"

#include <gtest/gtest.h>

#include "tests/unit/aqm/hierarchy/tree.h"

namespace surety {
namespace {

using namespace literals;

constexpr auto kPort = Hierarchy::kPort;
constexpr Duration kSlot = Hierarchy::kTimerSlot;

TEST(Hierarchy, IsEmptyAtFirst) {
  Tree t;
  Packet p;
  EXPECT_FALSE(t.take(p));
  EXPECT_EQ(t.h.next_event(t.now), kNever);
  EXPECT_EQ(t.h.depth(), 0u);
  EXPECT_FALSE(t.h.take_any(p, t.now));
}

TEST(Hierarchy, IsFifoForOneQueue) {
  Tree t;
  t.interface(5, kPort, t.bought({data_class()}));
  t.fill(5, 0, 100, 20);
  EXPECT_EQ(t.h.depth(), 20u);
  EXPECT_EQ(t.h.next_event(t.now), t.now);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(t.next(), 5);  // take() checks the order
  EXPECT_EQ(t.next(), -1);
  EXPECT_EQ(t.h.depth(), 0u);
  EXPECT_EQ(t.h.pool().in_use(), 0u);
}

TEST(Hierarchy, ServesStrictClassesOfAllBeforeAnybodysData) {
  Tree t;
  t.group(0);
  const InterfaceParams& bought = t.bought({data_class(), strict_class(), strict_class()});
  t.interface(1, 0, bought);
  t.interface(2, kPort, bought);
  for (const Hierarchy::Interface i : {1u, 2u})
    for (const std::size_t c : {0u, 1u, 2u}) t.put(i, c, 1000);
  std::vector<FlowId> order;
  for (Packet p; t.take(p);) order.push_back(p.flow % 64);
  // Of each interface's strict classes the first one first.
  EXPECT_EQ(order, (std::vector<FlowId>{1, 2, 1, 2, 0, 0}));
}

TEST(Hierarchy, GivesDataOnlyWhatStrictTrafficLeaves) {
  Tree t;
  t.interface(1, kPort, t.bought({strict_class(), data_class()}));
  t.interface(2, kPort, t.bought({strict_class(), data_class()}));
  t.fill(1, 1, 1000, 5);
  EXPECT_EQ(t.next(), 1);
  t.fill(2, 0, 1000, 3);
  for (const int expected : {2, 2, 2, 1}) EXPECT_EQ(t.next(), expected);
}

// 2,048 bytes a round: a turn is two packets of 1,500, or one when the last turn was beyond its round.
TEST(Hierarchy, GivesSiblingsTurnsByWeight) {
  Tree t;
  t.interface(1, kPort, t.bought({data_class()}, 1));
  t.interface(2, kPort, t.bought({data_class()}, 3));
  t.fill(1, 0, 1500, 400);
  t.fill(2, 0, 1500, 400);
  std::map<int, int> seen;
  for (int i = 0; i < 400; ++i) ++seen[t.next()];
  EXPECT_NEAR(seen[1], 100, 1);
  EXPECT_NEAR(seen[2], 300, 1);
}

TEST(Hierarchy, SharesWithinAnInterfaceByTheWeightsOfItsClasses) {
  Tree t;
  t.interface(1, kPort, t.bought({data_class(9), data_class(1)}));
  t.fill(1, 0, 1500, 900);
  t.fill(1, 1, 1500, 900);
  std::map<FlowId, int> seen;
  for (int i = 0; i < 600; ++i) {
    Packet p;
    ASSERT_TRUE(t.take(p));
    ++seen[p.flow % 64];
  }
  EXPECT_NEAR(seen[0], 540, 10);  // a quantum of nine packets
  EXPECT_NEAR(seen[1], 60, 2);
}

// A class, and an interface, whose queue is empty whenever its packets have left, beside one that always has
// some.
TEST(Hierarchy, WhoIsEmptyNowAndThenGainsNothing) {
  for (const bool class_of_one : {true, false})
    for (const std::uint16_t length : std::array<std::uint16_t, 3>{64, 1500, 9000})
      for (const std::size_t at_once : {1u, 2u, 5u}) {
        Tree t;
        const InterfaceParams& bought = t.bought({data_class(), data_class()});
        for (const Hierarchy::Interface i : {0u, 1u}) t.interface(i, kPort, bought);
        const auto other = class_of_one ? 0u : 1u;
        std::array<std::int64_t, 2> sent{};
        for (int n = 0; n < 2000; ++n) {
          if (t.h.queue(0, 0).depth() == 0) t.fill(0, 0, length, at_once);
          while (t.h.queue(other, 1).depth() < 4) t.put(other, 1, 1500);
          Packet p;
          ASSERT_TRUE(t.take(p));
          sent[p.flow % 64] += p.length;
          ASSERT_LE(sent[0] - sent[1], 2 * 2048 + 9000 + 1500) << length << ", " << at_once;
        }
        EXPECT_GE(sent[0], 1000 * 64);
      }
}

TEST(Hierarchy, AChildThatWasAwayHasSavedNothing) {
  Tree t;
  const InterfaceParams& bought = t.bought({data_class()});
  t.interface(1, kPort, bought);
  t.interface(2, kPort, bought);
  t.fill(1, 0, 1500, 500);
  for (int i = 0; i < 300; ++i) EXPECT_EQ(t.next(), 1);
  t.fill(2, 0, 1500, 200);
  int ahead = 0, most = 0;
  for (int i = 0; i < 200; ++i) {
    ahead += t.next() == 2 ? 1 : -1;
    most = std::max(most, std::abs(ahead));
  }
  EXPECT_LE(most, 3);
}

TEST(Hierarchy, WhatAChildDoesNotUseStaysInItsGroup) {
  Tree t(80_Mbps);
  const InterfaceParams& bought = t.bought({data_class()});
  t.group(0);
  t.group(1);
  for (const Hierarchy::Interface i : {0u, 1u, 2u}) t.interface(i, i / 2, bought);
  std::map<int, int> seen;
  for (const Hierarchy::Interface i : {1u, 2u}) t.fill(i, 0, 1000, 900);
  for (int i = 0; i < 1000 && t.wait(t.now + 1s); ++i) ++seen[t.next()];
  EXPECT_NEAR(seen[1], seen[2], 4);
}

// What it sent beside others there is nothing that its new siblings know of.
TEST(Hierarchy, WhoMovesToAnotherGroupTakesPartAtOnce) {
  Tree t;
  const InterfaceParams& bought = t.bought({data_class()});
  t.group(0);
  for (const Hierarchy::Interface i : {0u, 1u}) t.interface(i, kPort, bought);
  t.interface(2, 0, bought);
  for (const Hierarchy::Interface i : {0u, 1u}) t.fill(i, 0, 1500, 900);
  for (int n = 0; n < 900; ++n) EXPECT_NE(t.next(), 2);
  t.h.change(0, 0, bought, t.now, 1);
  t.fill(2, 0, 1500, 200);
  std::map<int, int> seen;
  for (int n = 0; n < 200; ++n) ++seen[t.next()];
  EXPECT_NEAR(seen[0], 50, 3);
  EXPECT_NEAR(seen[2], 50, 3);
}

TEST(Hierarchy, AShaperLetsABurstGoAndThenItsRate) {
  Tree t;
  t.interface(1, kPort, t.bought({data_class()}, 1, 8_Mbps));  // a byte in a microsecond; 3,000 of burst
  t.fill(1, 0, 1500, 10);
  EXPECT_EQ(t.next(), 1);
  EXPECT_EQ(t.next(), 1);
  EXPECT_EQ(t.next(), -1);
  const Time ready = t.h.next_event(t.now);
  EXPECT_GT(ready, t.now);
  EXPECT_LE(ready, t.now + kSlot);
  t.now = ready;
  EXPECT_EQ(t.next(), 1);
  EXPECT_EQ(t.next(), -1);
  t.now += 1500us - 2 * kSlot;
  EXPECT_EQ(t.next(), -1);
  EXPECT_LE(t.h.next_event(t.now), t.now + 3 * kSlot);
  t.now = t.h.next_event(t.now);
  EXPECT_EQ(t.next(), 1);
}

TEST(Hierarchy, AShaperOutOfCreditHoldsStrictTrafficToo) {
  Tree t;
  t.interface(1, kPort, t.bought({strict_class(), data_class()}, 1, 8_Mbps));
  t.fill(1, 1, 1500, 2);
  EXPECT_EQ(t.next(), 1);
  EXPECT_EQ(t.next(), 1);
  t.put(1, 0, 200);
  EXPECT_EQ(t.next(), -1);
  t.now += 1us + kSlot;
  EXPECT_EQ(t.next(), 1);
}

TEST(Hierarchy, ACapHoldsItsClassOnly) {
  Tree t;
  t.interface(1, kPort, t.bought({strict_class(8_Mbps), data_class()}));
  t.fill(1, 0, 1500, 3);
  t.fill(1, 1, 1000, 2);
  std::vector<FlowId> order;
  for (Packet p; t.take(p);) order.push_back(p.flow % 64);
  EXPECT_EQ(order, (std::vector<FlowId>{0, 0, 1, 1}));
  EXPECT_EQ(t.h.depth(), 1u);
  ASSERT_TRUE(t.wait(t.now + 10us));
  ASSERT_TRUE(t.wait(t.now + 10us));
  t.now += kSlot;
  EXPECT_EQ(t.next(), 1);
  EXPECT_EQ(t.h.next_event(t.now), kNever);
}

TEST(Hierarchy, AGroupsShaperHoldsAllOfItAndNobodyElse) {
  Tree t;
  const InterfaceParams& bought = t.bought({data_class()});
  t.group(0, 1, 8_Mbps);
  t.interface(1, 0, bought);
  t.interface(2, 0, bought);
  t.interface(3, kPort, bought);
  for (const Hierarchy::Interface i : {1u, 2u, 3u}) t.fill(i, 0, 1500, 20);
  std::map<int, int> seen;
  for (int i; (i = t.next()) >= 0;) ++seen[i];
  EXPECT_EQ(seen[1] + seen[2], 2);
  EXPECT_EQ(seen[3], 20);
}

TEST(Hierarchy, CountsAsItsQueuesDo) {
  Tree t;
  t.interface(1, kPort, t.bought({data_class(1, 3)}));
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(t.put(1, 0, 100).drop, i < 3 ? DropReason::none : DropReason::overflow);
  EXPECT_EQ(t.next(), 1);
  const QueueCounters c = t.h.queue(1, 0).counters(Precedence::out);
  EXPECT_EQ(c.arrivals, 5u);
  EXPECT_EQ(c.overflow_drops, 2u);
  EXPECT_EQ(c.departures, 1u);
  EXPECT_EQ(c.departed_bytes, 100u);
  EXPECT_EQ(t.h.queue(1, 0).depth(), 2u);
}

TEST(Hierarchy, PassesOnWhatRioSays) {
  Tree t;
  ClassParams assured = data_class();
  assured.queue.rio = RioParams{.weight = 0.5,
                                .in = {.min = 100, .max = 200, .pmax = Probability(0.1)},
                                .out = {.min = 2, .max = 6, .pmax = Probability(1)},
                                .ecn = true};
  t.interface(1, kPort, t.bought({assured, strict_class()}));
  EXPECT_FALSE(t.h.congested(1, 0));
  std::map<DropReason, int> drops;
  int marks = 0, onsets = 0;
  for (int i = 0; i < 60; ++i) {
    const ArrivalResult r = t.put(1, 0, 1000, Precedence::out, i < 10);
    ++drops[r.drop];
    marks += r.mark;
    onsets += r.event == CongestionEvent::onset;
  }
  EXPECT_TRUE(t.h.congested(1, 0));
  EXPECT_FALSE(t.h.congested(1, 1));  // tail drop
  EXPECT_GT(marks, 0);
  EXPECT_GT(drops[DropReason::forced], 0);
  EXPECT_EQ(onsets, 1);
  const QueueCounters c = t.h.queue(1, 0).counters(Precedence::out);
  EXPECT_EQ(c.ecn_marks, static_cast<std::uint64_t>(marks));
  EXPECT_EQ(c.forced_drops, static_cast<std::uint64_t>(drops[DropReason::forced]));
  EXPECT_EQ(t.put(1, 0, 1000, Precedence::in).drop, DropReason::none);

  t.now += 10us;
  t.put(1, 1, 200);
  while (t.next() >= 0) {
  }
  EXPECT_EQ(t.h.sojourn(Plane::strict).counts[0], 1u);
  EXPECT_EQ(t.h.sojourn(Plane::data).counts[3], c.arrivals - c.forced_drops - c.early_drops + 1);
  t.now += 1s;
  t.h.settle(1, 0, t.now);  // idle for long
  EXPECT_FALSE(t.h.congested(1, 0));
}

TEST(Hierarchy, ABurstIsTheSameAsOneAfterTheOther) {
  Tree one, other;
  std::vector<Hierarchy::Arrival> burst;
  Rng rng(3);
  for (Tree* t : {&one, &other}) {
    const InterfaceParams& bought = t->bought({data_class(1, 4), strict_class({}, 6)});
    for (Hierarchy::Interface i = 0; i < 5; ++i) t->interface(i, kPort, bought);
  }
  std::vector<ArrivalNotice> notices(64);
  for (int turn = 0; turn < 50; ++turn) {
    burst.clear();
    for (std::uint32_t i = 0; i < 64; ++i) {
      const std::uint32_t interface = rng.next() % 5, c = rng.next() % 2;
      burst.push_back({{.handle = nullptr, .flow = interface * 64 + c, .length = 500, .precedence = {}},
                       interface,
                       static_cast<std::uint8_t>(c),
                       false});
    }
    const std::size_t n = one.h.enqueue(burst, notices, one.now);
    std::size_t expected = 0;
    for (std::size_t i = 0; i < burst.size(); ++i) {
      const ArrivalResult r = other.h.enqueue(burst[i], other.now);
      if (r.drop == DropReason::none) continue;
      ASSERT_LT(expected, n);
      EXPECT_EQ(notices[expected].index, i);
      EXPECT_EQ(notices[expected++].result.drop, r.drop);
    }
    EXPECT_EQ(n, expected);
    std::array<Packet, 40> left;
    const std::size_t of_one = one.h.dequeue(one.now, one.shaper, left);
    for (std::size_t i = 0; i < of_one; ++i) {
      Packet p;
      ASSERT_EQ(other.h.dequeue(other.now, other.shaper, {&p, 1}), 1u);
      EXPECT_EQ(p.flow, left[i].flow) << "turn " << turn << " packet " << i;
    }
  }
}

TEST(Hierarchy, TakesOutAnythingInTheEnd) {
  Tree t;
  t.group(0, 1, 100_bps);
  t.interface(1, 0, t.bought({strict_class(100_bps), data_class()}));
  t.interface(2, kPort, t.bought({data_class()}));
  t.fill(1, 0, 1500, 10);
  t.fill(1, 1, 1500, 10);
  t.fill(2, 0, 1500, 10);
  int n = 0;
  for (Packet p; t.h.take_any(p, t.now);) ++n;
  EXPECT_EQ(n, 30);
  EXPECT_EQ(t.h.depth() + t.h.removed_depth(), 0u);
  EXPECT_EQ(t.h.pool().in_use(), 0u);
}

TEST(Hierarchy, NeedsLessThanAKilobyteForAnInterfaceWithTwoClasses) {
  const std::vector<ClassParams> two(2);
  const InterfaceParams bought(shaped(1_Mbps), 1, two, 3);
  EXPECT_LE(InterfaceNode::block_lines(bought) * LineArena::kLine + sizeof(LineNumber) +
                2 * 12,  // its number, and two timers
            700u);
}

}  // namespace
}  // namespace surety
