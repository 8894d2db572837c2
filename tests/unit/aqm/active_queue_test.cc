// SPDX-License-Identifier: BSD-3-Clause
#include "aqm/active_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <map>
#include <tuple>
#include <vector>

namespace surety {
namespace {

using namespace literals;

constexpr Time kStart{};

Packet packet(FlowId id, Precedence precedence = Precedence::out, std::uint16_t length = 1000) {
  return {.flow = id, .length = length, .precedence = precedence};
}

RedParams red(double min, double max, double pmax) {
  return {.min = min, .max = max, .pmax = Probability(pmax)};
}

// Weight 1: the average is the occupancy that the arrival met.
ActiveQueueParams with_rio(std::uint32_t limit, RedParams out, bool ecn = false) {
  return {.limit = limit, .rio = RioParams{.weight = 1, .in = red(1000, 2000, 0.1), .out = out, .ecn = ecn}};
}

DropReason fill(ActiveQueue& queue, int n, Precedence precedence = Precedence::out,
                bool ecn_capable = false) {
  DropReason last = DropReason::none;
  for (int i = 0; i < n; ++i) last = queue.enqueue(packet(0, precedence), ecn_capable, kStart).drop;
  return last;
}

TEST(ActiveQueue, HoldsExactlyTheLimitInOrder) {
  for (const std::uint32_t limit : {1u, 5u, 8u, 1000u}) {
    ActiveQueue queue({.limit = limit, .rio = {}}, 1);
    FlowId next = 0;
    for (int round = 0; round < 3; ++round) {  // goes round the ring
      for (FlowId i = 0; i < limit; ++i)
        ASSERT_EQ(queue.enqueue(packet(i), false, kStart).drop, DropReason::none);
      ASSERT_EQ(queue.enqueue(packet(limit), false, kStart).drop, DropReason::overflow);
      ASSERT_EQ(queue.depth(), limit);
      for (next = 0; !queue.empty(); ++next) {
        ASSERT_EQ(queue.peek(0).flow, next);
        ASSERT_EQ(queue.dequeue(kStart).flow, next);
      }
      ASSERT_EQ(next, limit);
    }
  }
}

TEST(ActiveQueue, WithoutRioDropsAtTheTailOnly) {
  ActiveQueue queue({.limit = 3, .rio = {}}, 1);
  EXPECT_EQ(fill(queue, 4), DropReason::overflow);
  const ActiveQueue::Result result = queue.enqueue(packet(0), true, kStart);
  EXPECT_EQ(result.drop, DropReason::overflow);
  EXPECT_EQ(result.event, CongestionEvent::none);
  EXPECT_FALSE(queue.congested());
  EXPECT_EQ(queue.rio(), nullptr);
  EXPECT_EQ(queue.counters(Precedence::out).overflow_drops, 2u);
}

TEST(ActiveQueue, CountsByPrecedence) {
  ActiveQueue queue(with_rio(10, red(100, 200, 0.1)), 1);
  queue.enqueue(packet(0, Precedence::in, 100), false, kStart);
  queue.enqueue(packet(1, Precedence::out, 200), false, kStart);
  queue.enqueue(packet(2, Precedence::in, 300), false, kStart);
  EXPECT_EQ(queue.depth(Precedence::in), 2u);
  EXPECT_EQ(queue.depth(Precedence::out), 1u);
  queue.dequeue(kStart);
  queue.dequeue(kStart);
  EXPECT_EQ(queue.depth(Precedence::in), 1u);
  EXPECT_EQ(queue.depth(Precedence::out), 0u);
  EXPECT_EQ(queue.counters(Precedence::in).arrivals, 2u);
  EXPECT_EQ(queue.counters(Precedence::in).departures, 1u);
  EXPECT_EQ(queue.counters(Precedence::in).departed_bytes, 100u);
  EXPECT_EQ(queue.counters(Precedence::out).departed_bytes, 200u);
}

// What a full queue calls the packet it has no room for.
TEST(ActiveQueue, ARefusalByRioKeepsItsNameWhenTheQueueIsFull) {
  ActiveQueue early(with_rio(5, red(4, 5, 1)), 1);  // at occupancy 5 p_b = 1
  EXPECT_EQ(fill(early, 6), DropReason::early);
  ActiveQueue forced(with_rio(5, red(1, 4, 0)), 1);
  EXPECT_EQ(fill(forced, 6), DropReason::forced);
  ActiveQueue accepted(with_rio(5, red(10, 20, 1)), 1);
  EXPECT_EQ(fill(accepted, 6), DropReason::overflow);
}

// `aqm: out-tail-drop` with `out: {max: 40}`, `in: {max: 60}`: what config/parse_queues.cc makes of it.
ActiveQueueParams out_tail_drop(std::uint32_t limit) {
  return {.limit = limit, .rio = RioParams{.weight = 1, .in = red(59, 59, 0.02), .out = red(39, 39, 0.05)}};
}

TEST(ActiveQueue, OutTailDropRefusesOutFromItsMaximumOnWhateverWasBefore) {
  ActiveQueue queue(out_tail_drop(100), 1);
  Time now = kStart;
  for (int round = 0; round < 3; ++round) {  // busy, emptied, idle: the averages remember nothing
    while (queue.depth() < 40) {
      ASSERT_EQ(queue.enqueue(packet(0), false, now).drop, DropReason::none) << queue.depth();
      ASSERT_FALSE(queue.congested());
    }
    ASSERT_EQ(queue.enqueue(packet(0), false, now).drop, DropReason::forced);
    ASSERT_TRUE(queue.congested());
    queue.dequeue(now);
    ASSERT_EQ(queue.enqueue(packet(0), false, now).drop, DropReason::none) << "39 were there";
    while (!queue.empty()) queue.dequeue(now);
    now += 1ns;
    queue.settle(now);
    ASSERT_FALSE(queue.congested());
    now += 1ms;
  }
  EXPECT_EQ(queue.counters(Precedence::out).early_drops, 0u);
}

TEST(ActiveQueue, OutTailDropCountsInPacketsAgainstOutButNotOutAgainstIn) {
  ActiveQueue queue(out_tail_drop(100), 1);
  ASSERT_EQ(fill(queue, 30), DropReason::none);
  ASSERT_EQ(fill(queue, 10, Precedence::in), DropReason::none);
  EXPECT_EQ(fill(queue, 1), DropReason::forced);
  EXPECT_EQ(fill(queue, 50, Precedence::in), DropReason::none) << "60 of IN, 90 in all";
  EXPECT_EQ(fill(queue, 1, Precedence::in), DropReason::forced);
  EXPECT_EQ(queue.depth(), 90u);
}

TEST(ActiveQueue, OutTailDropTakesInUntilItIsFull) {
  ActiveQueue queue(out_tail_drop(50), 1);
  ASSERT_EQ(fill(queue, 50, Precedence::in), DropReason::none);
  EXPECT_EQ(fill(queue, 1, Precedence::in), DropReason::overflow);
}

TEST(ActiveQueue, MarksWhatItAcceptsOnly) {
  ActiveQueue queue(with_rio(5, red(3, 4, 1), true), 1);
  fill(queue, 4, Precedence::out, true);
  queue.dequeue(kStart);
  EXPECT_EQ(queue.counters(Precedence::out).ecn_marks, 0u);
  fill(queue, 1, Precedence::in, true);
  const ActiveQueue::Result marked = queue.enqueue(packet(0), true, kStart);  // meets 4: p_b = 1
  EXPECT_TRUE(marked.mark);
  EXPECT_EQ(marked.drop, DropReason::none);
  EXPECT_EQ(queue.counters(Precedence::out).ecn_marks, 1u);

  ActiveQueue full(with_rio(4, red(3, 4, 1), true), 1);
  fill(full, 4, Precedence::out, true);
  const ActiveQueue::Result refused = full.enqueue(packet(0), true, kStart);
  EXPECT_FALSE(refused.mark);
  EXPECT_EQ(refused.drop, DropReason::overflow);
  EXPECT_EQ(full.counters(Precedence::out).ecn_marks, 0u);
}

TEST(ActiveQueue, ReportsOutArrivalsOfACongestionPeriodRefusedOnesIncluded) {
  ActiveQueue queue(with_rio(4, red(2, 100, 0)), 1);
  for (int i = 1; i <= 40; ++i) {
    const CongestionEvent event = queue.enqueue(packet(0), false, kStart).event;
    // The 4th arrival meets 3 > min: the period's first. Full from the 5th on.
    const CongestionEvent expected = i == 4                      ? CongestionEvent::onset
                                     : i > 4 && (i - 3) % 8 == 0 ? CongestionEvent::eighth
                                                                 : CongestionEvent::none;
    ASSERT_EQ(event, expected) << i;
    if (i < 4) continue;
    ASSERT_EQ(queue.enqueue(packet(0, Precedence::in), false, kStart).event, CongestionEvent::none);
  }
}

TEST(ActiveQueue, SettleEndsTheCongestionOfAnIdleQueue) {
  ActiveQueue queue({.limit = 100,
                     .rio = RioParams{.weight = 0.1,
                                      .in = red(1000, 2000, 0.1),
                                      .out = red(10, 1000, 0),
                                      .capacity = 4_Mbps,
                                      .mean_packet = 500_B}},
                    1);
  fill(queue, 100);
  ASSERT_TRUE(queue.congested());
  const double average = queue.status().average_total;
  queue.settle(kStart + 1s);
  EXPECT_DOUBLE_EQ(queue.status().average_total, average) << "not idle yet";
  while (!queue.empty()) queue.dequeue(kStart + 1s);
  EXPECT_TRUE(queue.congested());
  queue.settle(kStart + 1s + 10ms);  // 10 packets
  EXPECT_NEAR(queue.status().average_total, average * std::pow(0.9, 10), 1e-9);
  queue.settle(kStart + 2s);
  EXPECT_FALSE(queue.congested());
}

TEST(ActiveQueue, MeasuresSojournTimes) {
  ActiveQueue queue({.limit = 10, .rio = {}}, 1);
  queue.enqueue(packet(0), false, kStart);
  queue.enqueue(packet(1), false, kStart + 10us);
  queue.dequeue(kStart + 10us);
  queue.dequeue(kStart + 11us);
  EXPECT_EQ(queue.sojourn().sum_ns, 11000u);
  EXPECT_EQ(queue.sojourn().counts[3], 1u);  // 8.192 to 16.384 us
  EXPECT_EQ(queue.sojourn().counts[0], 1u);  // 1 us
}

// arrivals = departures + early + forced + overflow + depth, per precedence, after every call.
void expect_law(const ActiveQueue& queue) {
  for (const Precedence precedence : {Precedence::in, Precedence::out}) {
    const QueueCounters& c = queue.counters(precedence);
    ASSERT_EQ(c.arrivals,
              c.departures + c.early_drops + c.forced_drops + c.overflow_drops + queue.depth(precedence));
  }
}

TEST(ActiveQueue, KeepsTheLawAndTheOrderWhateverHappens) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    ActiveQueueParams params{.limit = 60, .rio = {}};
    if (seed % 4 != 0) {
      params.rio =
          RioParams{.weight = 0.05, .in = red(20, 50, 0.1), .out = red(10, 40, 0.2), .ecn = seed % 2 == 0};
    }
    ActiveQueue queue(params, seed);
    Rng rng(seed);
    std::deque<FlowId> model;
    Time now = kStart;
    for (FlowId i = 0; i < 20000; ++i) {
      now += Duration(rng.next() % 1000);
      // Load swings above and below what leaves, so that the queue is full and empty many times.
      if (rng.uniform() < (i / 1000 % 2 == 0 ? 0.6 : 0.4)) {
        const Precedence precedence = rng.next() % 2 == 0 ? Precedence::in : Precedence::out;
        const auto result = queue.enqueue(packet(i, precedence), rng.next() % 2 == 0, now);
        if (result.drop == DropReason::none) model.push_back(i);
        ASSERT_FALSE(result.mark && result.drop != DropReason::none);
      } else if (!queue.empty()) {
        ASSERT_EQ(queue.dequeue(now).flow, model.front());
        model.pop_front();
      }
      ASSERT_EQ(queue.depth(), model.size());
      ASSERT_LE(queue.depth(), params.limit);
      ASSERT_NO_FATAL_FAILURE(expect_law(queue));
    }
    EXPECT_GT(queue.counters(Precedence::out).departures, 1000u);
    if (!params.rio) {
      EXPECT_GT(queue.counters(Precedence::in).overflow_drops, 100u);
    } else {
      const QueueCounters& out = queue.counters(Precedence::out);
      EXPECT_GT(out.early_drops + out.ecn_marks, 50u);
      EXPECT_GT(out.forced_drops, 50u);
    }
  }
}

// A burst leaves just as its packets would one by one: order, counters, averages' idle times, sojourn times.
TEST(ActiveQueue, ABurstLeavesAsItsPacketsWouldOneByOne) {
  for (const bool rio : {false, true}) {
    const ActiveQueueParams params =
        rio ? with_rio(100, red(50, 60, 0.1)) : ActiveQueueParams{.limit = 100, .rio = {}};
    ActiveQueue one(params, 1), burst(params, 1);
    Time now = kStart;
    for (FlowId round = 0; round < 30; ++round) {
      for (FlowId i = 0; i < 1 + round % 7; ++i, now += 3us)
        for (ActiveQueue* q : {&one, &burst}) {
          const auto length = static_cast<std::uint16_t>(100 + i);
          q->enqueue(packet(round * 10 + i, i % 3 == 0 ? Precedence::in : Precedence::out, length), false,
                     now);
        }
      std::vector<Packet> taken(std::min<std::size_t>(burst.depth(), 1 + round % 5));
      burst.dequeue(taken, now += 10us);
      for (const Packet& p : taken) EXPECT_EQ(p.flow, one.dequeue(now).flow);
    }
    EXPECT_EQ(burst.sojourn().counts, one.sojourn().counts);
    EXPECT_EQ(burst.sojourn().sum_ns, one.sojourn().sum_ns);
    for (const Precedence p : {Precedence::in, Precedence::out}) {
      EXPECT_EQ(burst.depth(p), one.depth(p));
      EXPECT_EQ(burst.counters(p).departures, one.counters(p).departures);
      EXPECT_EQ(burst.counters(p).departed_bytes, one.counters(p).departed_bytes);
    }
    if (!rio) continue;
    for (ActiveQueue* q : {&one, &burst}) q->settle(now + 1ms);
    EXPECT_EQ(burst.status().average_in, one.status().average_in);
    EXPECT_EQ(burst.status().average_total, one.status().average_total);
  }
}

// What a burst leaves behind, and what it tells, beside a queue that takes the same packets one by one.
void expect_same(const ActiveQueue& burst, const ActiveQueue& one) {
  for (const Precedence p : {Precedence::in, Precedence::out}) {
    ASSERT_EQ(burst.depth(p), one.depth(p));
    const QueueCounters &a = burst.counters(p), &b = one.counters(p);
    ASSERT_EQ(std::tie(a.arrivals, a.early_drops, a.forced_drops, a.overflow_drops, a.ecn_marks),
              std::tie(b.arrivals, b.early_drops, b.forced_drops, b.overflow_drops, b.ecn_marks));
  }
  ASSERT_EQ(burst.congested(), one.congested());
  if (!burst.rio()) return;
  ASSERT_NEAR(burst.status().average_in, one.status().average_in, 1e-12);  // another order of rounding
  ASSERT_NEAR(burst.status().average_total, one.status().average_total, 1e-12);
}

using Told = std::tuple<std::size_t, DropReason, bool, CongestionEvent>;

TEST(ActiveQueue, ABurstArrivesAsItsPacketsWouldOneByOne) {
  std::map<std::pair<DropReason, CongestionEvent>, int> seen;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    ActiveQueueParams params{.limit = 60, .rio = {}};
    if (seed % 4 != 0)
      params.rio =
          RioParams{.weight = 0.05, .in = red(20, 50, 0.1), .out = red(10, 40, 0.2), .ecn = seed % 2 == 0};
    params.beyond = seed > 6 ? 30 : 0;
    ActiveQueue one(params, seed), burst(params, seed);
    Rng rng(seed);
    Time now = kStart;
    for (int round = 0; round < 600; ++round) {
      now += Duration(rng.next() % 100'000);
      std::array<Packet, 64> packets;
      std::array<bool, 64> ecn{};
      const std::size_t n = rng.next() % 65;
      std::vector<Told> expected;
      const auto any_length = [&] { return static_cast<std::uint16_t>(40 + rng.next() % 2000); };
      const std::uint16_t common = any_length();
      const bool mixed = rng.next() % 2 == 0;
      for (std::size_t i = 0; i < n; ++i) {
        packets[i] =
            packet(static_cast<FlowId>(rng.next()), rng.next() % 2 == 0 ? Precedence::in : Precedence::out,
                   mixed ? any_length() : common);
        ecn[i] = rng.next() % 2 == 0;
        const ActiveQueue::Result r = one.enqueue(packets[i], ecn[i], now);
        if (r.drop != DropReason::none || r.mark || r.event != CongestionEvent::none)
          expected.emplace_back(i, r.drop, r.mark, r.event);
        ++seen[{r.drop, r.event}];
      }
      std::array<ActiveQueue::Notice, 64> notices;
      std::vector<Told> told;
      const std::size_t m = burst.enqueue(std::span(packets).first(n), std::span(ecn).first(n), notices, now);
      for (const auto& x : std::span(notices).first(m))
        told.emplace_back(x.index, x.result.drop, x.result.mark, x.result.event);
      ASSERT_EQ(told, expected);
      ASSERT_NO_FATAL_FAILURE(expect_same(burst, one));
      for (auto leave = rng.next() % 70; leave > 0 && !one.empty(); --leave)
        ASSERT_EQ(burst.dequeue(now).flow, one.dequeue(now).flow);
    }
  }
  // None of the things that can happen to a packet was missing.
  const auto times = [&](DropReason drop, CongestionEvent event) { return seen[{drop, event}]; };
  EXPECT_GT(times(DropReason::none, CongestionEvent::none), 1000);
  EXPECT_GT(times(DropReason::early, CongestionEvent::none), 100);
  EXPECT_GT(times(DropReason::forced, CongestionEvent::none), 100);
  EXPECT_GT(times(DropReason::overflow, CongestionEvent::none), 100);
  EXPECT_GT(times(DropReason::none, CongestionEvent::onset), 100);
  EXPECT_GT(times(DropReason::forced, CongestionEvent::eighth), 100);
}

// The part that is refused of a customer's 8 Mbit/s in packets of this length on a link of 20 Mbit/s, beside
// pulses of 1,200 packets of 46 bytes every 48 ms. All are IN: the contracts are for less than 18 Mbit/s
// together. The queue is the README's.
double lost_beside_pulses(std::uint32_t beyond, std::uint16_t length) {
  constexpr int kNsPerByte = 400;
  ActiveQueue queue({.limit = 200,
                     .rio = RioParams{.in = red(70, 120, 0.01), .out = red(10, 60, 0.2), .capacity = 20_Mbps},
                     .beyond = beyond},
                    1);
  Time free = kStart;  // when the link has sent all that it has taken
  int sent = 0, lost = 0;
  for (Time now = kStart; now < kStart + 10s; now += 10us) {
    while (!queue.empty() && free <= now) free += Duration(kNsPerByte * queue.dequeue(free).length);
    if (queue.empty()) free = std::max(free, now);
    if ((now - kStart) % 48ms < 12ms) queue.enqueue(packet(1, Precedence::in, 46), false, now);
    if ((now - kStart) % (length * 1us) != 0us) continue;
    ++sent;
    lost += queue.enqueue(packet(2, Precedence::in, length), false, now).drop != DropReason::none;
  }
  return static_cast<double>(lost) / sent;
}

TEST(ActiveQueue, SmallPacketsDoNotTakeTheRoomOfLargeOnes) {
  EXPECT_GT(lost_beside_pulses(0, 1500), 0.1);
  EXPECT_EQ(lost_beside_pulses(7 * 200, 1500), 0);
  EXPECT_EQ(lost_beside_pulses(7 * 200, 60), 0) << "nor that of a connection's first packet";
  EXPECT_EQ(lost_beside_pulses(7 * 200, 9000), 0) << "nor beside jumbo frames";
}

TEST(ActiveQueue, ByBytesIsBoundedInPacketsToo) {
  const auto filled_with = [](std::uint16_t length) {
    ActiveQueue queue({.limit = 100, .rio = {}, .beyond = 300}, 1);
    while (queue.enqueue(packet(kNoFlow, Precedence::in, length), false, kStart).drop == DropReason::none) {
    }
    EXPECT_EQ(queue.counted(), std::min<std::uint32_t>(length, 1500) * queue.depth());
    return queue.depth();
  };
  EXPECT_EQ(filled_with(46), 400u);
  EXPECT_EQ(filled_with(750), 200u) << "150,000 bytes";
  EXPECT_EQ(filled_with(1500), 100u);
  EXPECT_EQ(filled_with(9000), 100u) << "never less than the limit";
}

// Bursts of equal lengths and of different ones, which RIO takes one by one.
TEST(ActiveQueue, CountsLargePacketsOfBurstsThatComeAndGoTogether) {
  const RioParams rio{.weight = 1, .in = {40, 60, Probability(1)}, .out = {40, 60, Probability(1)}};
  const std::array<bool, 64> ecn_capable{};
  for (const bool has_rio : {false, true})
    for (const bool mixed : {false, true})
      for (const std::uint16_t length : {std::uint16_t{1500}, std::uint16_t{1501}, std::uint16_t{9000}}) {
        ActiveQueue queue({.limit = 100, .rio = has_rio ? std::optional(rio) : std::nullopt, .beyond = 300},
                          1);
        std::vector<Packet> burst;
        for (FlowId i = 0; i < 20; ++i)
          burst.push_back(packet(i, i % 3 == 0 ? Precedence::in : Precedence::out,
                                 mixed && i % 2 == 0 ? std::uint16_t{100} : length));
        for (int round = 0; round < 2; ++round) {
          std::array<ActiveQueue::Notice, 64> notices;
          queue.enqueue(burst, std::span(ecn_capable).first(burst.size()), notices, kStart);
          std::vector<Packet> left(queue.depth());
          const auto half = std::span(left).first(left.size() / 2);
          for (const auto out : {half, std::span(left).subspan(half.size())}) {
            const std::uint32_t before = queue.counted();
            queue.dequeue(out, kStart);
            std::uint32_t taken = 0;
            for (const Packet& p : out) taken += std::min<std::uint32_t>(p.length, 1500);
            EXPECT_EQ(before - queue.counted(), taken) << has_rio << mixed << length;
          }
          EXPECT_EQ(queue.counted(), 0u) << has_rio << mixed << length;
        }
      }
}

}  // namespace
}  // namespace surety
