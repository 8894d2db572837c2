// SPDX-License-Identifier: BSD-3-Clause
// Weighted classes with caps.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

#include "aqm/class_scheduler.h"
#include "conditioners/rng.h"
#include "tests/unit/aqm/capped_shares.h"

namespace surety {
namespace {

using namespace literals;

constexpr Time kStart{};
constexpr WireOverhead kEthernet{WireOverhead::Kind::bytes, 38};

ClassParams weighted(std::uint32_t weight, std::optional<Rate> cap = {}, bool strict = false) {
  return {
      .name = "class", .strict = strict, .cap = cap, .weight = weight, .queue = {.limit = 100, .rio = {}}};
}
bool put(ClassScheduler& s, std::size_t class_index, std::uint16_t length, Time now = kStart) {
  const Packet packet{.flow = static_cast<FlowId>(class_index), .length = length};
  return s.enqueue(class_index, packet, false, now).drop == DropReason::none;
}
int next_class(ClassScheduler& s, Time now = kStart) {
  Packet packet;
  return s.dequeue(now, packet) ? static_cast<int>(packet.flow) : -1;
}

class CappedShares : public testing::TestWithParam<CappedCase> {};

// All classes backlogged: each gets its rate to 0.5 % of the port's, and the scheduler is called no more
// often than packets leave and caps have credit.
TEST_P(CappedShares, AreTheSmallerOfShareAndCap) {
  const CappedCase& c = GetParam();
  std::vector<ClassParams> classes;
  for (const CappedClass& k : c.classes) classes.push_back(weighted(k.weight, k.cap));
  ClassScheduler s(classes, kEthernet, kStart, 1);
  PortShaper shaper({.rate = c.port, .burst = 3000_B, .overhead = kEthernet}, kStart);
  for (std::size_t k = 0; k < classes.size(); ++k)
    for (int i = 0; i < 50; ++i) put(s, k, 1500);
  std::vector<double> bits(classes.size());
  std::array<Packet, 32> out;
  std::size_t packets = 0, calls = 0;
  const Time end = kStart + 4s;
  for (Time now = kStart; now < end; ++calls) {
    shaper.advance(now);
    const std::size_t n = s.dequeue(now, shaper, out);
    for (const Packet& p : std::span(out).first(n)) {
      bits[p.flow] += 8 * kEthernet.wire_bytes(p.length);
      put(s, p.flow, p.length, now);
    }
    packets += n;
    const Time next = std::max(s.next_event(now), shaper.next_event(now));
    ASSERT_TRUE(next > now || n > 0) << "spins";
    now = std::max(now + 1ns, next);
  }
  for (std::size_t k = 0; k < classes.size(); ++k)
    EXPECT_NEAR(bits[k] / 4, static_cast<double>(c.classes[k].gets.bits_per_second()),
                0.005 * static_cast<double>(c.port.bits_per_second()))
        << k;
  EXPECT_LT(calls, 4 * packets);
}
INSTANTIATE_TEST_SUITE_P(Cases, CappedShares, testing::ValuesIn(kCappedCases));

TEST(ClassSchedulerCaps, HoldTheirClassBackAndSayWhenItGoesOn) {
  ClassScheduler s({weighted(1, 8_Mbps), weighted(1)}, {}, kStart, 1);
  for (int i = 0; i < 6; ++i) put(s, 0, 1000);
  for (const int expected : {0, 0, 0, -1}) EXPECT_EQ(next_class(s), expected) << "its burst is 3000 bytes";
  EXPECT_EQ(s.next_event(kStart), kStart + 1ns);
  EXPECT_EQ(next_class(s, kStart + 1ns), 0);
  EXPECT_EQ(next_class(s, kStart + 1ns), -1);
  EXPECT_EQ(s.next_event(kStart + 1ns), kStart + 1ms + 1ns);
  put(s, 1, 1000, kStart + 2ns);
  EXPECT_EQ(s.next_event(kStart + 2ns), kStart + 2ns);
  EXPECT_EQ(next_class(s, kStart + 2ns), 1);
  EXPECT_EQ(s.next_event(kStart + 2ns), kStart + 1ms + 1ns);
  EXPECT_EQ(next_class(s, kStart + 1ms + 1ns), 0);
  EXPECT_EQ(next_class(s, kStart + 2ms + 1ns), 0);
  EXPECT_EQ(s.next_event(kStart + 2ms + 1ns), kNever) << "empty";
  put(s, 0, 1000, kStart + 2ms + 2ns);
  EXPECT_EQ(s.next_event(kStart + 2ms + 2ns), kStart + 3ms + 1ns) << "its debt stays";
  EXPECT_EQ(next_class(s, kStart + 2ms + 2ns), -1);
}

// A class that is alone takes its packets without rounds.
TEST(ClassSchedulerCaps, HoldAClassThatIsAlone) {
  ClassScheduler s({weighted(1, 8_Mbps), weighted(1)}, {}, kStart, 1);
  for (int i = 0; i < 6; ++i) put(s, 0, 1000);
  PortShaper unlimited({}, kStart);
  std::array<Packet, 10> out;
  EXPECT_EQ(s.dequeue(kStart, unlimited, out), 3u);
  EXPECT_EQ(s.next_event(kStart), kStart + 1ns);
  EXPECT_EQ(s.dequeue(kStart + 2ms, unlimited, out), 2u);
  EXPECT_EQ(s.dequeue(kStart + 1s, unlimited, out), 1u);
  EXPECT_EQ(s.next_event(kStart + 1s), kNever);
}

// A packet larger than the quantum, of a class with a cap, beside one without.
TEST(ClassSchedulerCaps, LetPacketsLargerThanTheQuantumGo) {
  ClassScheduler s({weighted(1, 8_Mbps), weighted(1)}, {}, kStart, 1);
  int jumbo = 0;
  for (Time now = kStart; now < kStart + 1s; now += 100us) {
    if (s.queue(0).depth() < 2) put(s, 0, 9000, now);
    for (int i = 0; i < 10; ++i) put(s, 1, 1500, now);
    for (int i = 0; i < 10; ++i) jumbo += next_class(s, now) == 0;
  }
  EXPECT_NEAR(jumbo, 111, 1) << "8 Mbit/s are 111 packets a second";
}

// Arrivals, departures and changes of the parameters at random, beside a bucket for each cap: nothing is lost
// or overtakes, no cap is exceeded, something leaves whenever something may, and next_event() says so.
TEST(ClassSchedulerCaps, AreWorkConservingAndLoseNothing) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Rng rng(seed);
    const auto any = [&rng](std::uint64_t n) { return rng.next() % n; };
    std::vector<ClassParams> classes{weighted(1, 2_Mbps, true), weighted(9, 3_Mbps), weighted(3),
                                     weighted(1000, 1_Mbps), weighted(1, 20_Mbps)};
    const std::size_t n = classes.size();
    ClassScheduler s(classes, kEthernet, kStart, seed);
    std::vector<PortShaper> caps;
    const auto cap = [&](std::size_t c, Time now) {
      return PortShaper({classes[c].cap, default_burst(classes[c].cap.value_or(Rate{})), kEthernet}, now);
    };
    for (std::size_t c = 0; c < n; ++c) caps.push_back(cap(c, kStart));
    std::vector<std::uintptr_t> entered(n), left(n);
    Time now = kStart;
    for (int i = 0; i < 20'000; ++i) {
      now += Duration(any(200'000));
      if (any(500) == 0) {
        for (std::size_t c = 1; c < n; ++c) {
          classes[c].weight = static_cast<std::uint32_t>(1 + any(any(2) == 0 ? 9 : 5000));
          classes[c].cap.reset();
          if (any(3) > 0) classes[c].cap = Rate::bits_per_second(100'000 + any(10'000'000));
        }
        ClassScheduler fresh(classes, kEthernet, now, 2);
        s.adopt(fresh, {}, now);
        for (std::size_t c = 0; c < n; ++c) caps[c].adopt(cap(c, now), now);
      }
      if (any(100) < (i / 1000 % 2 == 0 ? 70 : 30)) {
        const std::size_t c = any(n);
        Packet p{.flow = static_cast<FlowId>(c), .length = static_cast<std::uint16_t>(40 + any(1461))};
        p.handle = reinterpret_cast<void*>(entered[c]);
        entered[c] += s.enqueue(c, p, false, now).drop == DropReason::none;
        continue;
      }
      bool may = false;
      for (std::size_t c = 0; c < n; ++c) {
        caps[c].advance(now);
        may = may || (entered[c] > left[c] && caps[c].ready());
      }
      const Time event = s.next_event(now);
      Packet p;
      ASSERT_EQ(s.dequeue(now, p), may) << i;
      ASSERT_EQ(event == now, may) << i;
      if (!may) continue;
      ASSERT_TRUE(caps[p.flow].ready()) << i;
      caps[p.flow].sent(p.length);
      ASSERT_EQ(p.handle, reinterpret_cast<void*>(left[p.flow]++));
    }
    ASSERT_EQ(s.depth(), std::accumulate(entered.begin(), entered.end(), std::uintptr_t{0}) -
                             std::accumulate(left.begin(), left.end(), std::uintptr_t{0}));
    EXPECT_GT(*std::ranges::min_element(left), 500u);
  }
}

// Two classes without a cap always have packets: while a third is held back and goes on, they differ by no
// more than without it.
TEST(ClassSchedulerCaps, ChangeNoSharesOfOthers) {
  ClassScheduler s({weighted(3), weighted(5, 20_Mbps), weighted(7)}, kEthernet, kStart, 1);
  Rng rng(3);
  const auto size = [&rng] { return static_cast<std::uint16_t>(40 + rng.next() % 1461); };
  for (std::size_t c = 0; c < 3; ++c)
    for (int i = 0; i < 10; ++i) put(s, c, size());
  std::array<double, 3> bytes{};
  Time now = kStart;
  for (int i = 0; i < 200'000; ++i, now += 100us) {
    Packet p;
    ASSERT_TRUE(s.dequeue(now, p));
    bytes[p.flow] += kEthernet.wire_bytes(p.length);
    put(s, p.flow, size(), now);
    ASSERT_LE(std::abs(bytes[0] / 3 - bytes[2] / 7), s.quantum_unit() + 1538.0 / 3 + 1538.0 / 7);
  }
  EXPECT_NEAR(bytes[1] / 20, 2.5e6, 2.5e4);
}

TEST(ClassSchedulerCaps, ABurstLeavesAsItsPacketsWouldOneByOne) {
  const std::vector<ClassParams> classes{weighted(1), weighted(2, 50_Mbps), weighted(1, 20_Mbps, true),
                                         weighted(3), weighted(1, 9_Mbps)};
  ClassScheduler one(classes, kEthernet, kStart, 1), burst(classes, kEthernet, kStart, 1);
  PortShaper of_one({.rate = 400_Mbps, .burst = 20'000_B, .overhead = kEthernet}, kStart), of_burst = of_one;
  Rng rng(1);
  std::array<std::uint32_t, 5> left{};
  Time now = kStart;
  for (int round = 0; round < 5000; ++round) {
    now += Duration(rng.next() % 400'000);
    for (std::size_t c = 0; c < classes.size(); ++c)
      for (auto n = 80 - std::min(80u, one.queue(c).depth()); n > 0; --n) {
        const auto length = static_cast<std::uint16_t>(40 + rng.next() % 1461);
        ASSERT_EQ(put(one, c, length, now), put(burst, c, length, now));
      }
    of_one.advance(now);
    of_burst.advance(now);
    std::array<Packet, 64> out;
    const std::size_t n = burst.dequeue(now, of_burst, std::span(out).first(rng.next() % 65));
    for (std::size_t i = 0; i < n; ++i) {
      Packet p;
      ASSERT_TRUE(of_one.ready() && one.dequeue(now, p));
      of_one.sent(p.length);
      ASSERT_EQ(std::tie(p.flow, p.length), std::tie(out[i].flow, out[i].length));
      ++left[p.flow];
    }
    ASSERT_EQ(of_burst.next_event(now), of_one.next_event(now));
  }
  EXPECT_GT(*std::ranges::min_element(left), 1000u);
}

// Class 0 goes, and class 1 sends its packets at its own expense.
TEST(ClassSchedulerCaps, HoldInheritedPacketsBackToo) {
  ClassScheduler s({weighted(1), weighted(1, 8_Mbps), weighted(1)}, {}, kStart, 1);
  for (const std::size_t c : {0u, 1u})
    for (int i = 0; i < 4; ++i) put(s, c, 1500);
  for (const int expected : {0, 1, 0, 1, 0, 0, -1}) EXPECT_EQ(next_class(s), expected);
  for (int i = 0; i < 3; ++i) put(s, 0, 1500);
  ClassScheduler fresh({weighted(1, 8_Mbps), weighted(1)}, {}, kStart, 2, 1);
  s.adopt(fresh, {{ClassMoves::kGone, 0, 1}, {0b01, 0, 0}}, kStart);
  s.enqueue(0, Packet{.flow = 7, .length = 1500}, false, kStart);
  EXPECT_EQ(next_class(s), -1);
  std::vector<int> order;
  for (Time now = s.next_event(kStart); now < kStart + 1s; now = s.next_event(now))
    order.push_back(next_class(s, now));
  EXPECT_EQ(order, (std::vector<int>{1, 1, 0, 0, 0, 7})) << "its own, the inherited ones, later ones";
  EXPECT_EQ(s.depth(), 0u);
}

}  // namespace
}  // namespace surety
