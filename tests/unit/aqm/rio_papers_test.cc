// SPDX-License-Identifier: BSD-3-Clause
// The averages of the papers' simulators: `count_arriving`, `idle_decay: off`, `decoupled`.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "aqm/active_queue.h"
#include "aqm/rio.h"
#include "conditioners/rng.h"

namespace surety {
namespace {

using namespace literals;

constexpr Time kNow = Time(5s);

RedParams red(double min, double max, double pmax) {
  return {.min = min, .max = max, .pmax = Probability(pmax)};
}

// CSA, Table 1.
RioParams csa(bool count_arriving, bool idle_decay) {
  return {.in = red(70, 120, 0.01),
          .out = red(10, 60, 0.2),
          .count_arriving = count_arriving,
          .idle_decay = idle_decay,
          .capacity = 30_Mbps,
          .mean_packet = 576_B};
}

TEST(RioCountArriving, TheAverageIsThatOfTheLengthAndTheArrival) {
  for (const double weight : {0.002, 0.5, 1.0}) {
    RioParams params = csa(true, false);
    params.weight = weight;
    const RioRules rules(params);
    RioState state(1);
    EXPECT_EQ(rules.average_total(state), 1) << "an arrival at an empty queue";
    for (int n = 1; n <= 2000; ++n) {
      rules.arrive(state, Precedence::in, false, 3, 5, kNow);
      const double gone = std::pow(1 - weight, n);
      ASSERT_NEAR(rules.average_in(state), 4 + (1 - 4) * gone, 1e-9);
      ASSERT_NEAR(rules.average_total(state), 6 + (1 - 6) * gone, 1e-9);
    }
  }
}

// Drops, marks and congestion of random arrivals: those of a RIO that is told of one packet more, once both
// averages agree.
TEST(RioCountArriving, IsAQueueOfOnePacketMore) {
  const RioRules counting(csa(true, false)), plain(csa(false, false));
  RioState a(7), b(7);
  b.in.value = b.total.value = 1;
  Rng rng(3);
  int refused = 0, congested = 0;
  for (int i = 0; i < 200'000; ++i) {
    const auto in = static_cast<double>(rng.next() % 100), total = in + static_cast<double>(rng.next() % 40);
    const auto precedence = rng.next() % 2 == 0 ? Precedence::in : Precedence::out;
    const RioVerdict verdict = counting.arrive(a, precedence, false, in, total, kNow);
    ASSERT_EQ(verdict, plain.arrive(b, precedence, false, in + 1, total + 1, kNow)) << i;
    ASSERT_EQ(counting.congested(a), plain.congested(b)) << i;
    ASSERT_NEAR(counting.average_in(a), plain.average_in(b), 1e-9);
    ASSERT_NEAR(counting.average_total(a), plain.average_total(b), 1e-9);
    refused += verdict != RioVerdict::accept;
    congested += counting.congested(a);
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(congested, 1000);
}

TEST(RioCountArriving, BurstsAreOneArrivalAfterTheOther) {
  Rng rng(5);
  ActiveQueue one({.limit = 200, .rio = csa(true, true)}, 1),
      burst({.limit = 200, .rio = csa(true, true)}, 1);
  Time now{};
  for (int round = 0; round < 20'000; ++round) {
    std::array<Packet, 16> packets;
    const std::size_t n = 1 + rng.next() % packets.size();
    for (std::size_t i = 0; i < n; ++i)
      packets[i] = {.length = 576, .precedence = rng.next() % 3 == 0 ? Precedence::out : Precedence::in};
    constexpr std::array<bool, 16> kNotEcn{};
    std::array<ActiveQueue::Notice, 16> notices;
    burst.enqueue({packets.data(), n}, {kNotEcn.data(), n}, notices, now);
    for (std::size_t i = 0; i < n; ++i) one.enqueue(packets[i], false, now);
    ASSERT_EQ(burst.depth(), one.depth()) << round;
    ASSERT_NEAR(burst.status().average_in, one.status().average_in, 1e-9);
    ASSERT_NEAR(burst.status().average_total, one.status().average_total, 1e-9);
    now += Duration(rng.next() % 2'000'000);
    for (auto left = std::min<std::uint32_t>(one.depth(), rng.next() % 18); left > 0; --left) {
      one.dequeue(now);
      burst.dequeue(now);
    }
  }
  EXPECT_GT(one.counters(Precedence::out).early_drops, 100u);
}

TEST(RioCountArriving, TheWholeAverageDecaysWhileTheQueueIsIdle) {
  const RioRules rules(csa(true, true));
  RioState state(1);
  for (int i = 0; i < 3000; ++i) rules.arrive(state, Precedence::in, false, 3, 5, kNow);
  state.depart(Precedence::in, 0, 0, kNow);
  const double in = rules.average_in(state), total = rules.average_total(state);
  const double packets = 30e6 / 8 / 576 * 0.01, part = std::pow(1 - 0.002, packets);
  rules.settle(state, 0, 0, kNow + 10ms);
  EXPECT_NEAR(rules.average_in(state), in * part, 1e-9);
  EXPECT_NEAR(rules.average_total(state), total * part, 1e-9);
}

TEST(RioIdleDecay, OffKeepsTheAverages) {
  for (const double weight : {0.002, 1.0}) {
    RioParams params = csa(false, false);
    params.weight = weight;
    const RioRules rules(params);
    RioState state(1);
    for (int i = 0; i < 100; ++i) rules.arrive(state, Precedence::in, false, 3, 5, kNow);
    state.depart(Precedence::in, 0, 0, kNow);
    const double in = rules.average_in(state), total = rules.average_total(state);
    rules.settle(state, 0, 0, kNow + 100s);
    EXPECT_EQ(rules.average_in(state), in);
    EXPECT_EQ(rules.average_total(state), total);
    rules.arrive(state, Precedence::in, false, 0, 0, kNow + 200s);
    EXPECT_NEAR(rules.average_total(state), total * (1 - weight), 1e-12) << "the arrival alone";
  }
}

// `aqm: decoupled-tail-drop` with `out: {max: 40}`, `in: {max: 60}`.
TEST(DecoupledTailDrop, CountsOutAgainstOutAndInAgainstIn) {
  ActiveQueue queue(
      {.limit = 200,
       .rio = RioParams{.weight = 1, .in = red(59.5, 59.5, 1), .out = red(39.5, 39.5, 1), .decoupled = true}},
      1);
  const auto offer = [&](Precedence p) {
    return queue.enqueue({.length = 1000, .precedence = p}, false, kNow).drop;
  };
  for (int i = 0; i < 60; ++i) ASSERT_EQ(offer(Precedence::in), DropReason::none) << i;
  EXPECT_EQ(offer(Precedence::in), DropReason::forced);
  for (int i = 0; i < 40; ++i) {
    ASSERT_EQ(queue.refusal(Precedence::out, kNow), 0) << i;
    ASSERT_EQ(offer(Precedence::out), DropReason::none) << i;
  }
  EXPECT_EQ(queue.refusal(Precedence::out, kNow), 1);
  EXPECT_EQ(offer(Precedence::out), DropReason::forced);
  EXPECT_EQ(queue.depth(), 100u);
  queue.dequeue(kNow);
  EXPECT_EQ(offer(Precedence::out), DropReason::forced) << "an IN packet has left";
  EXPECT_EQ(offer(Precedence::in), DropReason::none);
}

// Bursts of two kinds end in the queue that single packets make.
TEST(DecoupledTailDrop, BurstsAreOneArrivalAfterTheOther) {
  const ActiveQueueParams params{
      .limit = 200,
      .rio = RioParams{.weight = 1, .in = red(59.5, 59.5, 1), .out = red(39.5, 39.5, 1), .decoupled = true}};
  ActiveQueue one(params, 1), burst(params, 1);
  Rng rng(9);
  for (int round = 0; round < 20'000; ++round) {
    std::array<Packet, 16> packets;
    const std::size_t n = 1 + rng.next() % packets.size();
    for (std::size_t i = 0; i < n; ++i)
      packets[i] = {.length = 1000, .precedence = rng.next() % 2 == 0 ? Precedence::out : Precedence::in};
    constexpr std::array<bool, 16> kNotEcn{};
    std::array<ActiveQueue::Notice, 16> notices;
    burst.enqueue({packets.data(), n}, {kNotEcn.data(), n}, notices, kNow);
    for (std::size_t i = 0; i < n; ++i) one.enqueue(packets[i], false, kNow);
    ASSERT_EQ(burst.depth(Precedence::in), one.depth(Precedence::in)) << round;
    ASSERT_EQ(burst.depth(Precedence::out), one.depth(Precedence::out)) << round;
    for (auto left = std::min<std::uint32_t>(one.depth(), rng.next() % 17); left > 0; --left) {
      one.dequeue(kNow);
      burst.dequeue(kNow);
    }
  }
  EXPECT_GT(one.counters(Precedence::out).forced_drops, 100u);
}

}  // namespace
}  // namespace surety
