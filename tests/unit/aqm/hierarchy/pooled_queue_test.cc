// SPDX-License-Identifier: BSD-3-Clause
#include "aqm/hierarchy/pooled_queue.h"

#include <gtest/gtest.h>

#include "aqm/active_queue.h"
#include "conditioners/rng.h"

namespace surety {
namespace {

using namespace literals;

constexpr Time kStart{};

InterfaceParams::Class params(std::uint32_t limit, std::optional<RioParams> rio = {}, std::uint32_t part = 2,
                              std::uint32_t beyond = 0) {
  ClassParams c;
  c.queue = {.limit = limit, .rio = rio, .beyond = beyond};
  return {c, 1500, part};
}
RioParams rio(bool ecn) {
  return {.weight = 0.01,
          .in = {.min = 4, .max = 16, .pmax = Probability(0.05)},
          .out = {.min = 5, .max = 25, .pmax = Probability(0.2)},
          .ecn = ecn,
          .capacity = 100_Mbps};
}

std::size_t take(PooledQueue& q, const InterfaceParams::Class& p, PacketPool& pool, std::span<Packet> out,
                 Time now) {
  static SojournHistogram all;
  SojournRun sojourn(all, now);
  return q.empty() ? 0 : q.dequeue(p, pool, out, now, sojourn, [](std::uint32_t) { return true; });
}

// Arrivals and departures of any kind: what a port's queue decides and counts, this one does.
void decides_as_a_ports_queue(std::optional<RioParams> with, std::uint32_t beyond = 0) {
  const ActiveQueueParams same{.limit = 60, .rio = with, .beyond = beyond};
  ActiveQueue port(same, 99);
  const InterfaceParams::Class shared = params(60, with, 100, beyond);
  PacketPool pool(1000);
  PooledQueue queue(shared, 99, kStart);
  Rng rng(5);
  Time now = kStart;
  std::array<Packet, 8> left;
  for (int step = 0; step < 200'000; ++step) {
    const std::uint32_t phase = static_cast<std::uint32_t>(step) / 5000 % 4;
    now += Duration(rng.next() % (phase == 3 ? 200'000 : 20'000));
    if (rng.next() % 8 < 3 + phase) {
      Packet p{.flow = static_cast<FlowId>(step),
               .length = static_cast<std::uint16_t>(beyond > 0 ? 1000 + rng.next() % 2000
                                                               : 64 + rng.next() % 1400)};
      const std::uint32_t kind = rng.next() % 3;
      const bool red = kind == 1 && with && with->red;
      p.precedence = kind == 0 ? Precedence::in : red ? Precedence::red : Precedence::out;
      const bool ecn = rng.next() % 2 == 0;
      const double refusal = port.refusal(p.precedence, now);
      ASSERT_EQ(refusal, queue.refusal(shared, pool, p.precedence, now)) << step;
      const ArrivalResult a = port.enqueue(p, ecn, now), b = queue.enqueue(shared, pool, p, ecn, now);
      ASSERT_EQ(a.drop, b.drop) << step;
      ASSERT_EQ(a.mark, b.mark) << step;
      ASSERT_EQ(a.event, b.event) << step;
      const bool refused = a.mark || a.drop != DropReason::none;
      ASSERT_TRUE(refusal == 1 ? refused : refusal > 0 || !refused) << step;
    } else if (!port.empty()) {
      const std::size_t n = std::min<std::size_t>(port.depth(), 1 + rng.next() % left.size());
      ASSERT_EQ(take(queue, shared, pool, std::span(left).first(n), now), n);
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(port.dequeue(now).flow, left[i].flow);
    }
    ASSERT_EQ(port.depth(), queue.depth());
    ASSERT_EQ(port.counted(), queue.counted());
    ASSERT_EQ(port.status().depth, queue.status(shared).depth);
    ASSERT_EQ(pool.in_use(), queue.chunks());
  }
  std::array<QueueCounters, kDropPrecedences> refused;
  for (const Precedence p : {Precedence::in, Precedence::out, Precedence::red}) {
    const QueueCounters a = port.counters(p), b = queue.counters(p);
    EXPECT_EQ(a.arrivals, b.arrivals);
    EXPECT_EQ(a.departures, b.departures);
    EXPECT_EQ(a.departed_bytes, b.departed_bytes);
    EXPECT_EQ(a.early_drops, b.early_drops);
    EXPECT_EQ(a.forced_drops, b.forced_drops);
    EXPECT_EQ(a.overflow_drops, b.overflow_drops);
    EXPECT_EQ(a.ecn_marks, b.ecn_marks);
    refused[index(p)] = a;
  }
  // There was something to decide.
  EXPECT_GT(refused[0].overflow_drops + refused[1].forced_drops, 0u);
  EXPECT_EQ(with.has_value(), refused[0].early_drops > 0 && refused[1].early_drops > 0);
  EXPECT_EQ(with && with->red, refused[2].early_drops > 0 && refused[2].departures > 0);
}

TEST(PooledQueue, DecidesAsAPortsQueueWithRio) {
  decides_as_a_ports_queue(rio(false));
}
TEST(PooledQueue, DecidesAsAPortsQueueWithEcn) {
  decides_as_a_ports_queue(rio(true));
}
TEST(PooledQueue, DecidesAsAPortsQueueWithThreeCurves) {
  RioParams three = rio(true);
  three.in.min = 1, three.in.max = 5;  // red packets that are dropped leave the others a short queue
  three.out = {.min = 2, .max = 8, .pmax = three.out.pmax};
  three.red = {.min = 1, .max = 6, .pmax = Probability(0.5)};
  decides_as_a_ports_queue(three);
  decides_as_a_ports_queue(three, 30);
}
TEST(PooledQueue, DecidesAsAPortsQueueWithTailDrop) {
  decides_as_a_ports_queue({});
}

TEST(PooledQueue, DecidesAsAPortsQueueByBytes) {
  RioParams low = rio(false);
  low.in.min = 1, low.out = {.min = 2, .max = 12, .pmax = low.out.pmax};  // bytes make lower levels
  decides_as_a_ports_queue(low, 30);
  decides_as_a_ports_queue({}, 30);
}

TEST(PooledQueue, GivesItsChunksBack) {
  PacketPool pool(10);
  const InterfaceParams::Class p = params(100, {}, 1);
  PooledQueue q(p, 1, kStart);
  std::array<Packet, 8> out;
  for (int round = 0; round < 20; ++round)
    for (const std::size_t n : {1u, 2u, 3u, 4u, 7u}) {
      for (std::size_t i = 0; i < n; ++i)
        q.enqueue(p, pool, Packet{.flow = static_cast<FlowId>(i), .length = 64}, false, kStart);
      EXPECT_EQ(pool.in_use(), (n + 2) / 3);
      ASSERT_EQ(take(q, p, pool, out, kStart), n);
      for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(out[i].flow, i);
      EXPECT_TRUE(q.empty());
      EXPECT_EQ(pool.in_use(), 0u);
      EXPECT_EQ(pool.common_free(), 10);
    }
}

TEST(PooledQueue, StopsWhereItIsTold) {
  PacketPool pool(10);
  const InterfaceParams::Class p = params(100);
  PooledQueue q(p, 1, kStart);
  for (FlowId i = 0; i < 9; ++i) q.enqueue(p, pool, Packet{.flow = i, .length = 64}, false, kStart);
  std::array<Packet, 8> out;
  SojournHistogram all;
  FlowId next = 0;
  for (const std::uint32_t limit : {1u, 3u, 2u, 3u}) {
    std::uint32_t left = limit;
    SojournRun sojourn(all, kStart + 5us);
    ASSERT_EQ(q.dequeue(p, pool, out, kStart + 5us, sojourn, [&](std::uint32_t) { return --left > 0; }),
              limit);
    for (std::uint32_t i = 0; i < limit; ++i) EXPECT_EQ(out[i].flow, next++);
  }
  EXPECT_TRUE(q.empty());
  EXPECT_EQ(all.counts[2] + all.counts[3], 9u);  // 2.5 to 10 us
  EXPECT_NEAR(static_cast<double>(all.sum_ns), 9 * 5000.0, 9 * 256.0);
}

TEST(PooledQueue, GoesOnWithOtherParameters) {
  PacketPool pool(100);
  const InterfaceParams::Class before = params(30, {}, 2), after = params(10, rio(false), 4);
  PooledQueue q(before, 1, kStart);
  pool.reserve(before.share.part);
  for (int i = 0; i < 30; ++i) q.enqueue(before, pool, Packet{.length = 64}, false, kStart);
  EXPECT_EQ(pool.common_free(), 90);
  q.adopt(before, after, pool, 1, kStart);
  EXPECT_EQ(pool.common_free(), 90);  // ten chunks, whosesoever
  EXPECT_EQ(q.depth(), 30u);
  EXPECT_EQ(q.enqueue(after, pool, Packet{.length = 64}, false, kStart).drop, DropReason::overflow);
  std::array<Packet, 64> out;
  EXPECT_EQ(take(q, after, pool, out, kStart), 30u);
  EXPECT_EQ(pool.common_free(), 96);
}

}  // namespace
}  // namespace surety
