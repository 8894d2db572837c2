// SPDX-License-Identifier: BSD-3-Clause
// The third drop precedence of RFC 2597 and its curve.
#include <gtest/gtest.h>

#include <array>

#include "aqm/active_queue.h"
#include "conditioners/rng.h"

namespace surety {
namespace {

using namespace literals;

constexpr Time kStart{};
constexpr std::array kAll{Precedence::in, Precedence::out, Precedence::red};

RedParams curve(double min, double max, double pmax) {
  return {.min = min, .max = max, .pmax = Probability(pmax)};
}
RioParams three(double weight) {
  return {.weight = weight, .in = curve(40, 70, 0.02), .out = curve(20, 40, 0.1), .red = curve(5, 20, 0.5)};
}

// The shares of packets of each precedence that are refused, of 20,000 at these lengths.
std::array<double, 3> refused_at(const RioParams& params, double in_packets, double packets) {
  const RioRules rules(params);
  std::array<double, 3> shares{};
  for (const Precedence p : kAll) {
    RioState state(7);
    int refused = 0;
    for (int i = 0; i < 20'000; ++i)
      refused += rules.arrive(state, p, false, in_packets, packets, kStart) >= RioVerdict::early;
    shares[index(p)] = refused / 20'000.0;
  }
  return shares;
}

TEST(RioRed, EachPrecedenceHasItsCurve) {
  // Drops are uniform on {1 .. 1/p_b}: 2 / (1 / p_b + 1) of the packets.
  const auto at15 = refused_at(three(1), 0, 15);
  EXPECT_EQ(at15[0], 0);
  EXPECT_EQ(at15[1], 0);
  EXPECT_NEAR(at15[2], 2 / (3 + 1.0), 0.01);  // p_b = 0.5 * 10 / 15
  const auto at30 = refused_at(three(1), 30, 30);
  EXPECT_EQ(at30[0], 0);
  EXPECT_NEAR(at30[1], 2 / (20 + 1.0), 0.01);
  EXPECT_EQ(at30[2], 1);
  const auto at55 = refused_at(three(1), 55, 55);
  EXPECT_NEAR(at55[0], 2 / (100 + 1.0), 0.005);
  EXPECT_EQ(at55[1], 1);
  EXPECT_EQ(at55[2], 1);
}

TEST(RioRed, DropsNeverFallWithThePrecedenceOrTheLength) {
  const RioRules rules(three(1));
  std::array<double, 3> last{};
  for (double length = 0; length <= 80; length += 0.25) {
    std::array<double, 3> now;
    for (const Precedence p : kAll) now[index(p)] = rules.refusal(RioState(1), p, length, length, kStart);
    EXPECT_LE(now[0], now[1]) << length;
    EXPECT_LE(now[1], now[2]) << length;
    for (std::size_t p = 0; p < 3; ++p) EXPECT_LE(last[p], now[p]) << length;
    last = now;
  }
  EXPECT_EQ(last, (std::array<double, 3>{1, 1, 1}));
}

TEST(RioRed, RedPacketsMoveTheAverageOfAllPacketsOnly) {
  const RioRules rules(three(0.5));
  RioState state(1);
  rules.arrive(state, Precedence::red, false, 3, 4, kStart);
  EXPECT_EQ(rules.average_in(state), 0);
  EXPECT_EQ(rules.average_total(state), 2);
}

TEST(RioRed, WithoutACurveOfTheirOwnRedPacketsAreOut) {
  RioParams two = three(1);
  two.red.reset();
  const RioRules rules(two);
  RioState as_red(3), as_out(3);
  Rng rng(4);
  for (int i = 0; i < 5000; ++i) {
    const double length = rng.next() % 45;
    ASSERT_EQ(rules.arrive(as_red, Precedence::red, false, 0, length, kStart),
              rules.arrive(as_out, Precedence::out, false, 0, length, kStart));
  }
}

// A link of 1000 bytes in 100 us that gets as much IN as half of it, and as much OUT and red as it carries.
TEST(RioRed, UnderLoadRedGoesFirstAndInNotAtAll) {
  ActiveQueue queue({.limit = 100, .rio = three(0.02)}, 1);
  Rng rng(2);
  for (Time now = kStart; now < kStart + 10s; now += 100us) {
    const auto offer = [&](Precedence p, double packets) {
      if (rng.uniform() < packets) queue.enqueue({.length = 1000, .precedence = p}, false, now);
    };
    offer(Precedence::red, 1);
    offer(Precedence::in, 0.5);
    offer(Precedence::out, 1);
    if (!queue.empty()) queue.dequeue(now);
  }
  const QueueCounters &in = queue.counters(Precedence::in), &out = queue.counters(Precedence::out),
                      &red = queue.counters(Precedence::red);
  EXPECT_EQ(in.departures + queue.depth(Precedence::in), in.arrivals);
  EXPECT_GT(out.departures, 40'000u) << "the half that IN leaves, of 100,000";
  EXPECT_LT(red.departures, red.arrivals / 50);
  for (const QueueCounters* c : {&in, &out, &red}) EXPECT_EQ(c->overflow_drops, 0u);
}

// Bursts and single packets, in and out: the law holds for each precedence, and both ways give the same.
TEST(RioRed, CountsRedPacketsApartInBurstsToo) {
  for (const std::uint32_t beyond : {0u, 30u}) {
    const ActiveQueueParams params{.limit = 60, .rio = three(0.05), .beyond = beyond};
    ActiveQueue one(params, 5), burst(params, 5);
    Rng rng(6);
    Time now = kStart;
    for (int round = 0; round < 2000; ++round, now += Duration(rng.next() % 50'000)) {
      std::array<Packet, 32> packets;
      std::array<bool, 32> ecn{};
      for (Packet& p : packets) {
        p = {.flow = rng.next(), .length = static_cast<std::uint16_t>(100 + rng.next() % 2000)};
        p.precedence = kAll[rng.next() % 3];
      }
      const std::size_t n = rng.next() % 16;
      for (const Packet& p : std::span(packets).first(n)) one.enqueue(p, false, now);
      std::array<ActiveQueue::Notice, 64> notices;
      burst.enqueue(std::span(packets).first(n), std::span(ecn).first(n), notices, now);
      const auto leaving = std::span(packets).first(std::min<std::size_t>(burst.depth(), rng.next() % 16));
      burst.dequeue(leaving, now);
      for (const Packet& p : leaving) ASSERT_EQ(one.dequeue(now).flow, p.flow);
      ASSERT_EQ(one.counted(), burst.counted());
      std::uint32_t depth = 0;
      for (const Precedence p : kAll) {
        const QueueCounters &a = one.counters(p), &b = burst.counters(p);
        ASSERT_EQ(a.arrivals, b.arrivals);
        ASSERT_EQ(a.early_drops, b.early_drops);
        ASSERT_EQ(a.forced_drops, b.forced_drops);
        ASSERT_EQ(a.departures, b.departures);
        ASSERT_EQ(a.departed_bytes, b.departed_bytes);
        ASSERT_EQ(b.waiting(), burst.depth(p));
        depth += burst.depth(p);
      }
      ASSERT_EQ(depth, burst.depth());
    }
    EXPECT_GT(burst.counters(Precedence::red).departures, 500u);
    EXPECT_GT(burst.counters(Precedence::red).early_drops, 100u);
  }
}

TEST(RioRed, RedPacketsLeaveAsRedWhenAReloadRemovesTheirCurve) {
  RioParams two = three(1);
  two.red.reset();
  ActiveQueue queue({.limit = 60, .rio = three(1)}, 1), fresh({.limit = 60, .rio = two}, 2);
  for (int i = 0; i < 5; ++i) queue.enqueue({.length = 1000, .precedence = Precedence::red}, false, kStart);
  queue.adopt(fresh, kStart);
  EXPECT_EQ(queue.depth(Precedence::red), 5u);
  std::array<Packet, 5> all;
  queue.dequeue(all, kStart);
  EXPECT_EQ(queue.counters(Precedence::red).departed_bytes, 5000u);
  EXPECT_EQ(queue.counters(Precedence::out).departures, 0u);
  EXPECT_EQ(queue.depth(Precedence::red), 0u);
}

}  // namespace
}  // namespace surety
