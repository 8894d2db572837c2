// SPDX-License-Identifier: BSD-3-Clause
// Queues whose parameters change while packets are in them.
#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <map>
#include <string>

#include "aqm/active_queue.h"

namespace surety {
namespace {

using namespace literals;

constexpr Time kStart{};

Packet packet(FlowId id, Precedence precedence = Precedence::out) {
  return {.flow = id, .length = 1000, .precedence = precedence};
}

RedParams red(double min, double max, double pmax) {
  return {.min = min, .max = max, .pmax = Probability(pmax)};
}

// Weight 1: the average is the occupancy that the arrival met.
ActiveQueueParams with_rio(std::uint32_t limit, RedParams out) {
  return {.limit = limit, .rio = RioParams{.weight = 1, .in = red(1000, 2000, 0.1), .out = out}};
}

DropReason fill(ActiveQueue& queue, int n, Precedence precedence = Precedence::out) {
  DropReason last = DropReason::none;
  for (int i = 0; i < n; ++i) last = queue.enqueue(packet(0, precedence), false, kStart).drop;
  return last;
}

void expect_law(const ActiveQueue& queue) {
  for (const Precedence precedence : {Precedence::in, Precedence::out}) {
    const QueueCounters& c = queue.counters(precedence);
    ASSERT_EQ(c.arrivals,
              c.departures + c.early_drops + c.forced_drops + c.overflow_drops + queue.depth(precedence));
  }
}

void change(ActiveQueue& queue, const ActiveQueueParams& params, Time now = kStart) {
  ActiveQueue fresh(params, 99);
  queue.adopt(fresh, now);
}
bool grow(ActiveQueue& queue, std::uint32_t budget) {
  return queue.grow(budget);
}

TEST(ActiveQueueAdopt, PacketsStayWhateverTheLimitIs) {
  const struct {
    std::uint32_t before, queued, after, at_once, later;  // how many it holds then
  } cases[] = {
      {8, 8, 3, 8, 8},           // none dropped
      {8, 0, 3, 3, 3},           //
      {8, 8, 8, 8, 8},           //
      {4, 4, 6, 6, 6},           // the ring has room for it
      {4, 4, 8, 7, 8},           // what the ring holds, until the packets are copied
      {5, 5, 1000, 7, 1000},     //
      {5, 0, 1000, 1000, 1000},  // nothing to copy
      {5, 1, 1000, 7, 1000},
  };
  for (const auto& c : cases) {
    ActiveQueue queue({.limit = c.before, .rio = {}}, 1);
    FlowId next = 0;
    // Somewhere in the ring.
    for (int i = 0; i < 6; ++i) queue.enqueue(packet(0), false, kStart), queue.dequeue(kStart);
    while (next < c.queued) queue.enqueue(packet(next++), false, kStart);
    change(queue, {.limit = c.after, .rio = {}});
    EXPECT_EQ(queue.depth(), c.queued);
    grow(queue, 0);
    while (queue.enqueue(packet(next), false, kStart).drop == DropReason::none) ++next;
    EXPECT_EQ(queue.depth(), c.at_once) << c.before << " to " << c.after;
    while (grow(queue, 2)) continue;
    while (queue.enqueue(packet(next), false, kStart).drop == DropReason::none) ++next;
    EXPECT_EQ(queue.depth(), c.later) << c.before << " to " << c.after;
    while (queue.depth() >= c.after) queue.dequeue(kStart);
    EXPECT_EQ(queue.enqueue(packet(next++), false, kStart).drop, DropReason::none) << "below the new limit";
    EXPECT_EQ(queue.enqueue(packet(next), false, kStart).drop, DropReason::overflow);
    for (FlowId expected = next - queue.depth(); !queue.empty(); ++expected)
      ASSERT_EQ(queue.dequeue(kStart).flow, expected);
  }
}

TEST(ActiveQueueAdopt, AveragesAndCountersStay) {
  ActiveQueueParams params = with_rio(50, red(3, 4, 1));
  ActiveQueue queue(params, 1);
  fill(queue, 5);
  fill(queue, 5, Precedence::in);
  const QueueCounters before = queue.counters(Precedence::out);
  const double in = queue.status().average_in, total = queue.status().average_total;
  ASSERT_EQ(before.early_drops + before.forced_drops, 1u);
  params.limit = 5;
  params.rio->out = red(30, 40, 1);
  change(queue, params);
  EXPECT_EQ(queue.status().average_in, in);
  EXPECT_EQ(queue.status().average_total, total);
  EXPECT_FALSE(queue.congested()) << "by the new curve";
  EXPECT_EQ(queue.counters(Precedence::out).arrivals, 5u);
  EXPECT_EQ(queue.counters(Precedence::out).early_drops, before.early_drops);
  EXPECT_EQ(fill(queue, 1), DropReason::overflow);
}

// m = idle * capacity / mean packet, as rio_test.cc has it.
TEST(ActiveQueueAdopt, AnIdleQueueDecaysAtTheOldPaceUpToTheChange) {
  ActiveQueueParams params = with_rio(50, red(30, 40, 1));
  params.rio->weight = 0.5;
  params.rio->capacity = 8_Mbps;
  params.rio->mean_packet = 1000_B;
  ActiveQueue queue(params, 1);
  fill(queue, 2);
  while (!queue.empty()) queue.dequeue(kStart);
  ASSERT_EQ(queue.status().average_total, 0.5);
  params.rio->capacity = 16_Mbps;
  change(queue, params, kStart + 2ms);
  queue.settle(kStart + 3ms);
  EXPECT_NEAR(queue.status().average_total, std::pow(0.5, 1 + 2 + 2), 1e-12);
}

TEST(ActiveQueueAdopt, WhatHasLeftNeedNotBeCopied) {
  ActiveQueue queue({.limit = 7, .rio = {}}, 1);
  fill(queue, 7);
  change(queue, {.limit = 100, .rio = {}});
  EXPECT_TRUE(grow(queue, 1));
  for (int i = 0; i < 5; ++i) queue.dequeue(kStart);
  EXPECT_TRUE(grow(queue, 1));
  EXPECT_FALSE(grow(queue, 1));
  EXPECT_FALSE(grow(queue, 1));
}

// The periods of congestion are those of the RIO that is there.
TEST(ActiveQueueAdopt, RioComesAndGoes) {
  const ActiveQueueParams tail_drop{.limit = 100, .rio = {}};
  ActiveQueue queue(tail_drop, 1);
  fill(queue, 10);
  change(queue, with_rio(100, red(3, 50, 0.000001)));
  ASSERT_NE(queue.rio(), nullptr);
  EXPECT_FALSE(queue.congested()) << "nothing has arrived at it";
  EXPECT_EQ(queue.enqueue(packet(0), false, kStart).event, CongestionEvent::onset);
  EXPECT_TRUE(queue.congested());
  change(queue, tail_drop);
  EXPECT_EQ(queue.rio(), nullptr);
  EXPECT_FALSE(queue.congested());
  EXPECT_EQ(queue.enqueue(packet(0), false, kStart).event, CongestionEvent::none);
  change(queue, with_rio(100, red(3, 50, 0.000001)));
  EXPECT_EQ(queue.enqueue(packet(0), false, kStart).event, CongestionEvent::onset) << "a new period";
  EXPECT_EQ(queue.depth(), 13u);
}

TEST(ActiveQueueAdopt, KeepsTheLawAndTheOrderOverChanges) {
  std::map<std::string, int> seen;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    ActiveQueueParams params{.limit = 10, .rio = {}};
    ActiveQueue queue(params, seed);
    Rng rng(seed);
    std::deque<FlowId> model;
    Time now = kStart;
    bool growing = false;
    std::uint32_t most = params.limit;
    for (FlowId i = 0; i < 20000; ++i) {
      now += Duration(rng.next() % 1000);
      if (rng.next() % 100 == 0) {
        params = {.limit = 1 + static_cast<std::uint32_t>(rng.next() % (1u << rng.next() % 10)), .rio = {}};
        if (rng.next() % 2 == 0)
          params.rio = RioParams{.weight = rng.uniform(), .in = red(20, 50, 0.1), .out = red(10, 40, 0.2)};
        ++seen[growing ? "while it grows" : "else"];
        change(queue, params, now);
        growing = true;
      }
      if (rng.next() % 8 == 0 && growing) growing = grow(queue, static_cast<std::uint32_t>(rng.next() % 8));
      most = std::max(params.limit, queue.depth());
      const double load = i / 1000 % 2 == 0 ? 0.6 : 0.4;
      if (rng.uniform() < load) {
        const Precedence precedence = rng.next() % 2 == 0 ? Precedence::in : Precedence::out;
        if (queue.enqueue(packet(i, precedence), false, now).drop == DropReason::none) model.push_back(i);
      } else if (!queue.empty()) {
        ASSERT_EQ(queue.dequeue(now).flow, model.front());
        model.pop_front();
      }
      ASSERT_EQ(queue.depth(), model.size());
      ASSERT_LE(queue.depth(), most);
      ASSERT_NO_FATAL_FAILURE(expect_law(queue));
    }
    EXPECT_GT(queue.counters(Precedence::in).overflow_drops, 100u);
    for (; !queue.empty(); model.pop_front()) ASSERT_EQ(queue.dequeue(now).flow, model.front());
  }
  EXPECT_GT(seen["while it grows"], 100);
  EXPECT_GT(seen["else"], 100);
}

}  // namespace
}  // namespace surety
