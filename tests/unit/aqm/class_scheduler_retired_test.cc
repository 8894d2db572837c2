// SPDX-License-Identifier: BSD-3-Clause
// Classes of a scheduler that come, go and move while packets wait.
#include "aqm/class_scheduler.h"

#include <gmock/gmock.h>

#include <malloc.h>

#include <deque>
#include <string>

#include "conditioners/rng.h"

namespace surety {
namespace {

using namespace literals;
using testing::ElementsAre;

constexpr Time kStart{};
constexpr std::uint8_t kGone = ClassMoves::kGone;

ClassParams strict(std::optional<Rate> cap = {}) {
  return {.name = "strict", .strict = true, .cap = cap, .weight = 1, .queue = {.limit = 1000, .rio = {}}};
}
ClassParams weighted(std::uint32_t weight = 1) {
  return {
      .name = "weighted", .strict = false, .cap = {}, .weight = weight, .queue = {.limit = 1000, .rio = {}}};
}

// `flow` tells which packet it is.
void put(ClassScheduler& s, std::size_t class_index, std::initializer_list<FlowId> flows, Time now = kStart) {
  for (const FlowId flow : flows) {
    const Packet packet{.flow = flow, .length = 1500};
    EXPECT_EQ(s.enqueue(class_index, packet, false, now).drop, DropReason::none);
  }
}
std::vector<FlowId> all(ClassScheduler& s, Time now = kStart) {
  std::vector<FlowId> flows;
  for (Packet p; s.dequeue(now, p);) flows.push_back(p.flow);
  return flows;
}
void change(ClassScheduler& s, const std::vector<ClassParams>& classes, const ClassMoves& moves,
            Time now = kStart) {
  ClassScheduler fresh(classes, {}, now, 2, moves.gone());
  const std::uint32_t depth = s.depth();
  const std::size_t allocated = mallinfo2().uordblks;
  s.adopt(fresh, moves, now);
  EXPECT_EQ(mallinfo2().uordblks, allocated);
  EXPECT_EQ(s.depth(), depth);
}

TEST(ClassMoves, SetsFollowTheirClasses) {
  const ClassMoves moves{{2, kGone, 0}, {0, 0b110, 0}};
  EXPECT_EQ(moves.gone(), 1u);
  EXPECT_EQ(moves.image(0b111), 0b101u);
  EXPECT_EQ(moves.successors(0b010), 0b110u);
  EXPECT_EQ(moves.successors(0b101), 0b101u);
}

TEST(RetiredQueues, ClassesThatChangePlacesKeepWhatTheyHave) {
  ClassScheduler s({strict(), weighted(1), weighted(2)}, {}, kStart, 1);
  put(s, 0, {1});
  put(s, 1, {2, 3});
  put(s, 2, {4, 5, 6});
  change(s, {weighted(2), weighted(1), weighted(1), strict()}, {{3, 2, 0}, {0, 0, 0}});
  EXPECT_EQ(s.queue(3).counters(Precedence::out).arrivals, 1u);
  EXPECT_EQ(s.queue(2).depth(), 2u);
  EXPECT_EQ(s.queue(1).depth(), 0u) << "a new one";
  EXPECT_THAT(all(s), ElementsAre(1, 2, 4, 5, 3, 6)) << "the turn is where it was";
}

TEST(RetiredQueues, AClassBecomesStrictAndWeightedAgain) {
  ClassScheduler s({weighted(), weighted()}, {}, kStart, 1);
  put(s, 0, {1, 2});
  put(s, 1, {3, 4, 5});
  change(s, {weighted(), strict()}, {{0, 1}, {0, 0}});
  Packet p;
  ASSERT_TRUE(s.dequeue(kStart, p));
  EXPECT_EQ(p.flow, 3u);
  change(s, {weighted(), weighted()}, {{0, 1}, {0, 0}});
  EXPECT_THAT(all(s), ElementsAre(1, 4, 2, 5));
  EXPECT_EQ(s.next_event(kStart), kNever);
}

// What it had at the change leaves before what it inherits, and that before what has come since.
TEST(RetiredQueues, WhatWaitsLeavesByTheHeirInItsTurn) {
  ClassScheduler s({weighted(), weighted(), weighted()}, {}, kStart, 1);
  put(s, 0, {1, 2});
  put(s, 1, {11, 12});
  put(s, 2, {21, 22, 23, 24, 25, 26});
  change(s, {weighted(), weighted()}, {{0, kGone, 1}, {0, 0b01, 0}});
  put(s, 0, {3, 4});
  EXPECT_EQ(s.queue(0).depth(), 4u) << "its own";
  EXPECT_THAT(all(s), ElementsAre(1, 21, 2, 22, 11, 23, 12, 24, 3, 25, 4, 26));
}

TEST(RetiredQueues, SeveralHeirsShareAndFallAsleepTogether) {
  ClassScheduler s({weighted(), weighted()}, {}, kStart, 1);
  put(s, 0, {1, 2, 3, 4, 5});
  put(s, 1, {11, 12, 13});
  change(s, {weighted(), weighted(), weighted()}, {{kGone, 2}, {0b011, 0}});
  EXPECT_THAT(all(s), ElementsAre(11, 1, 2, 12, 3, 4, 13, 5));
  EXPECT_EQ(s.depth(), 0u);
  EXPECT_EQ(s.next_event(kStart), kNever);
  put(s, 1, {6, 7});
  EXPECT_THAT(all(s), ElementsAre(6, 7));
}

// 3000 bytes of burst and one packet that overdraws it; then a packet in 12 ms.
TEST(RetiredQueues, AStrictHeirPaysForThemWithItsCap) {
  ClassScheduler s({strict(1_Mbps), weighted(), weighted()}, {}, kStart, 1);
  put(s, 1, {1, 2, 3, 4});
  put(s, 2, {21});
  change(s, {strict(1_Mbps), weighted()}, {{0, kGone, 1}, {0, 0b01, 0}});
  put(s, 0, {5});
  EXPECT_THAT(all(s), ElementsAre(1, 2, 21));
  EXPECT_EQ(s.next_event(kStart), kStart + 1ns);
  EXPECT_THAT(all(s, kStart + 1ns), ElementsAre(3));
  EXPECT_THAT(all(s, kStart + 100ms), ElementsAre(4, 5));
  EXPECT_EQ(s.depth(), 0u);
}

TEST(RetiredQueues, CreditOfWhoIsNotConcernedStaysAsItIs) {
  ClassScheduler s({weighted(), strict(1_Mbps)}, {}, kStart, 1);
  put(s, 0, {1, 2});
  put(s, 1, {11, 12, 13, 14});
  for (const FlowId expected : {11u, 12u, 1u}) {
    Packet p;
    ASSERT_TRUE(s.dequeue(kStart, p));
    EXPECT_EQ(p.flow, expected);
  }
  const Time before = kStart + 5ms;
  change(s, {strict(1_Mbps), weighted()}, {{kGone, 0}, {0b10, 0}}, before);
  EXPECT_THAT(all(s, before), ElementsAre(13, 2)) << "625 bytes: one more";
  EXPECT_EQ(s.next_event(before), kStart + 12ms + 1ns) << "as if nothing had been";
}

TEST(RetiredQueues, OfChangesOneAfterTheOtherTheOldestLeavesFirst) {
  ClassScheduler s({weighted(), weighted()}, {}, kStart, 1);
  put(s, 0, {1, 2});
  put(s, 1, {11});
  change(s, {weighted(), weighted()}, {{kGone, 0}, {0b10, 0}});
  put(s, 1, {3});
  change(s, {weighted()}, {{0, kGone}, {0, 0b1}});
  put(s, 0, {4});
  change(s, {weighted(), weighted()}, {{kGone}, {0b11}});
  EXPECT_THAT(all(s), ElementsAre(1, 2, 3, 11, 4));
}

TEST(RetiredQueues, EverythingCanBeTakenOutAtTheEnd) {
  ClassScheduler s({weighted(), strict()}, {}, kStart, 1);
  put(s, 0, {1, 2});
  put(s, 1, {3});
  change(s, {weighted()}, {{kGone, 0}, {0b1, 0}});
  std::size_t n = 0;
  for (Packet p; s.take_any(p, kStart);) ++n;
  EXPECT_EQ(n, 3u);
}

// Kinds of packets, each of which has a class: whenever a kind gets another one, its old one is gone. Nothing
// is lost, each kind leaves in its order, and there always is something to do while packets wait.
TEST(RetiredQueues, AnyChangesKeepAllPacketsAndTheirOrder) {
  constexpr std::size_t kKinds = 6;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Rng rng(seed);
    std::array<std::size_t, kKinds> class_of{};
    std::vector<ClassParams> classes{weighted()};
    ClassScheduler s(classes, {}, kStart, 1);
    std::array<std::uint16_t, kKinds> sent{}, left{};
    Time now = kStart;
    for (int step = 0; step < 600; ++step) {
      for (auto n = rng.next() % 12; n > 0; --n) {
        const auto kind = static_cast<std::size_t>(rng.next() % kKinds);
        const Packet p{.flow = static_cast<FlowId>(kind), .length = static_cast<std::uint16_t>(++sent[kind])};
        ASSERT_EQ(s.enqueue(class_of[kind], p, false, now).drop, DropReason::none);
      }
      for (auto n = rng.next() % 12; n > 0 && s.depth() > 0; --n) {
        Packet p;
        if (!s.dequeue(now, p)) {
          ASSERT_GT(s.next_event(now), now);
          now = s.next_event(now);
          ASSERT_TRUE(s.dequeue(now, p));
        }
        ASSERT_EQ(p.length, ++left[p.flow]) << "kind " << p.flow << ", seed " << seed;
      }
      if (rng.next() % 4 != 0) continue;
      // The classes that go; those that stay stand somewhere among the new ones.
      ClassMoves moves;
      std::vector<std::size_t> places;
      const std::size_t size = classes.size() + 3;
      std::deque<std::size_t> order;
      for (std::size_t i = 0; i < size; ++i)
        order.insert(order.begin() + static_cast<std::ptrdiff_t>(rng.next() % (order.size() + 1)), i);
      std::vector<bool> gone;
      std::size_t next = 0;
      for (std::size_t c = 0; c < classes.size(); ++c) {
        gone.push_back(rng.next() % 3 == 0);
        moves.to.push_back(gone[c] ? kGone : static_cast<std::uint8_t>(order[next++]));
        moves.heirs.push_back(0);
      }
      const std::size_t now_size =
          1 + *std::max_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(next + 2));
      classes.clear();
      for (std::size_t i = 0; i < now_size; ++i)
        classes.push_back(rng.next() % 3 == 0 ? strict(8_Mbps) : weighted(1 + rng.next() % 5));
      for (std::size_t& c : class_of) {
        const std::size_t old = c;
        c = gone[old] ? rng.next() % now_size : moves.to[old];
        if (gone[old]) moves.heirs[old] |= std::uint64_t{1} << c;
      }
      for (std::size_t c = 0; c < gone.size(); ++c)
        if (gone[c] && moves.heirs[c] == 0) moves.heirs[c] = 1;
      if (now_size > 40) {  // start again with one
        moves.to.assign(moves.to.size(), kGone);
        moves.heirs.assign(moves.to.size(), 1);
        class_of.fill(0);
        classes.assign(1, weighted());
      }
      ASSERT_NO_FATAL_FAILURE(change(s, classes, moves, now));
    }
    while (s.depth() > 0) {
      Packet p;
      now = std::max(now, s.next_event(now));
      ASSERT_TRUE(s.dequeue(now, p));
      ASSERT_EQ(p.length, ++left[p.flow]);
    }
    EXPECT_EQ(left, sent);
  }
}

}  // namespace
}  // namespace surety
