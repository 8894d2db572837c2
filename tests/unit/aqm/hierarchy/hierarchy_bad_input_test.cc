// SPDX-License-Identifier: BSD-3-Clause
// What nobody should configure or send, and somebody will.
#include <gtest/gtest.h>

#include "aqm/hierarchy/hierarchy.h"
#include "tests/unit/aqm/hierarchy/saturation.h"
#include "tests/unit/aqm/hierarchy/tree.h"

namespace surety {
namespace {

using namespace literals;

constexpr auto kPort = Hierarchy::kPort;

TEST(HierarchyBadInput, AnEmptyGroupIsNobody) {
  Tree t;
  t.group(0, 1'000'000, 1_Gbps);
  t.group(1);
  t.interface(0, 1, t.bought({data_class()}));
  t.put(0, 0, 100);
  EXPECT_EQ(t.next(), 0);
  EXPECT_EQ(t.next(), -1);
  t.h.remove_group(0);
  EXPECT_FALSE(t.h.has_group(0));
  t.put(0, 0, 100);
  EXPECT_EQ(t.next(), 0);
}

// Tokens for strict classes and data, of rates that have nothing to do with each other.
TEST(HierarchyBadInput, EverythingStrictAndMoreThanThereIs) {
  Tree t(10_Mbps);
  t.group(0, 1, 5_Mbps);
  Saturation load(t, 6);
  for (std::uint32_t i = 0; i < 6; ++i) {
    t.interface(i, i < 3 ? 0 : kPort, t.bought({strict_class(100_Mbps), strict_class()}, 1, 50_Mbps));
    load.begin(i, 0);
    load.begin(i, 1);
  }
  load.run(100ms);
  load.forget();
  load.run(1s);
  EXPECT_NEAR(static_cast<double>(load.all()), 1.25e6, 3000);
  // The group is one of four children.
  for (std::uint32_t i = 3; i < 6; ++i) EXPECT_NEAR(static_cast<double>(load.bytes(i)), 1.25e6 / 4, 5000);
}

// 65,536 come at once, and a port that sends 100 Gbit/s lets them go: nobody twice before everybody once.
TEST(HierarchyBadInput, EveryInterfaceBecomesActiveInTheSameMicrosecond) {
  constexpr std::uint32_t kAll = 65'536;
  Tree t(100_Gbps);
  const InterfaceParams& bought = t.bought({strict_class(1_Mbps), data_class()}, 1, 50_Mbps);
  for (std::uint32_t g = 0; g < 256; ++g) t.group(g, 1 + g % 3);
  for (std::uint32_t i = 0; i < kAll; ++i) t.interface(i, i % 256, bought);
  Saturation load(t, kAll);
  load.stop();
  for (std::uint32_t i = 0; i < kAll; ++i) load.begin(i, 1);
  EXPECT_EQ(t.h.depth(), 8 * kAll);
  // The burst of each is two packets, and the third overdraws it a moment later: 192 packets of all in 100
  // us.
  load.run(1ms, 1us);
  load.run(3s, 100us);
  EXPECT_EQ(t.h.depth(), 0u);
  for (std::uint32_t i = 0; i < kAll; ++i) ASSERT_EQ(load.bytes(i), 8 * 1500u) << i;
}

TEST(HierarchyBadInput, RatesChangeAHundredTimesASecondUnderLoad) {
  Tree t(1_Gbps);
  Saturation load(t, 8);
  std::deque<InterfaceParams> bought;
  std::deque<GroupParams> groups;
  t.group(0);
  const auto offer = [&](Rate rate) -> const InterfaceParams& {
    const std::vector<ClassParams> classes{strict_class(1_Mbps), data_class()};
    return bought.emplace_back(shaped(rate), 1, classes, 3);
  };
  for (std::uint32_t i = 0; i < 8; ++i) {
    t.interface(i, i % 2 == 0 ? 0 : kPort, offer(10_Mbps));
    load.begin(i, 1);
  }
  load.run(100ms);
  load.forget();
  double paid = 0;
  for (std::uint32_t k = 0; k < 200; ++k) {
    const Rate rate = Rate::bits_per_second(1'000'000 + k * 7919 % 50 * 1'000'000);
    for (std::uint32_t i = 0; i < 8; ++i) t.h.change(i, i % 2 == 0 ? 0 : kPort, offer(rate), t.now, i);
    groups.emplace_back(shaped(400_Mbps), 1 + k % 5);
    t.h.change_group(0, groups.back(), t.now);
    load.run(10ms, 10us);
    paid += rate.bytes_per_second() * 0.01;
  }
  // No token is lost or found: a burst and a packet at the ends.
  for (std::uint32_t i = 0; i < 8; ++i)
    EXPECT_NEAR(static_cast<double>(load.bytes(i)), paid, 3000 + 1500) << i;
}

// From slow to fast: it does not wait until when the slow one would have been ready.
TEST(HierarchyBadInput, AHigherRateCountsAtOnce) {
  Tree t;
  t.interface(0, kPort, t.bought({data_class()}, 1, 1_kbps));
  t.fill(0, 0, 1500, 40);
  while (t.next() >= 0) {
  }
  t.now += 1s;
  t.h.change(0, kPort, t.bought({data_class()}, 1, 100_Mbps), t.now, 1);
  ASSERT_TRUE(t.wait(t.now + 1ms));
  EXPECT_EQ(t.next(), 0);
}

TEST(HierarchyBadInput, ARemovedInterfacesPacketsAreHandedBack) {
  Tree t;
  t.group(3, 1, 1_kbps);
  const InterfaceParams& bought = t.bought({strict_class(1_kbps), data_class()}, 1, 1_kbps);
  t.interface(7, 3, bought);
  t.interface(8, 3, bought);
  for (const Hierarchy::Interface i : {7u, 8u})
    for (const std::size_t c : {0u, 1u}) t.fill(i, c, 1000, 50);
  t.h.remove(7);
  EXPECT_FALSE(t.h.has(7));
  EXPECT_EQ(t.h.depth(), 100u);
  EXPECT_EQ(t.h.removed_depth(), 100u);
  std::array<Packet, 33> out;
  std::map<FlowId, std::uintptr_t> seen;
  std::size_t n = out.size(), all = 0;
  for (; n == out.size(); all += n) {
    n = t.h.take_removed(out, t.now);
    for (std::size_t k = 0; k < n; ++k) {
      EXPECT_EQ(out[k].flow / 64, 7u);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(out[k].handle), ++seen[out[k].flow]);
    }
  }
  EXPECT_EQ(all, 100u);
  t.interface(7, kPort, t.bought({data_class()}));  // another one of that number
  EXPECT_EQ(t.h.queue(7, 0).depth(), 0u);
  t.entered.clear(), t.left.clear();
  t.put(7, 0, 100);
  while (t.next() >= 0) {
  }
  EXPECT_EQ(t.bytes_of(7), 100u);
}

// A driver whose clock jumps, either way.
TEST(HierarchyBadInput, StepsOfTime) {
  Tree t;
  t.interface(0, kPort, t.bought({strict_class(1_Mbps), data_class()}, 1, 8_Mbps));
  t.fill(0, 0, 1000, 200);
  t.fill(0, 1, 1500, 200);
  const auto drain = [&] {
    int n = 0;
    while (t.next() >= 0) ++n;
    return n;
  };
  drain();
  t.now += std::chrono::hours(24 * 365);
  EXPECT_GE(drain(), 2);
  t.now -= std::chrono::hours(24);
  EXPECT_EQ(drain(), 0);
  t.now += std::chrono::hours(24) + 1s;
  EXPECT_GE(drain(), 2);
  while (t.h.depth() > 0) {
    ASSERT_TRUE(t.wait(t.now + 1s));
    drain();
  }
}

TEST(HierarchyBadInput, IsRefusedWhereThereIsNoRoom) {
  Hierarchy h({.interfaces = 10, .groups = 1, .queues = 4, .packets = 30}, {}, Time{});
  const std::vector<ClassParams> many(20);
  const InterfaceParams bought(shaped({}), 1, many, 3);
  EXPECT_TRUE(h.add(0, kPort, bought, Time{}, 1));
  EXPECT_FALSE(h.add(1, kPort, bought, Time{}, 1));
  EXPECT_FALSE(h.has(1));
  EXPECT_TRUE(h.has(0));
}

// A greedy one does not take what others need: of a pool for 900 packets.
TEST(HierarchyBadInput, OneThatFillsThePoolLeavesRoomForOthers) {
  Tree t({}, {.interfaces = 20, .groups = 1, .queues = 20, .packets = 900});
  const InterfaceParams& bought = t.bought({data_class(1, 100'000)}, 1, 1_kbps, 6);
  for (std::uint32_t i = 0; i < 20; ++i) t.interface(i, kPort, bought);
  t.fill(0, 0, 100, 2000);
  EXPECT_LE(t.h.queue(0, 0).depth(), 900u);
  EXPECT_GE(t.h.queue(0, 0).depth(), (900u - 120) * 8 / 9);
  for (std::uint32_t i = 1; i < 20; ++i) {
    t.fill(i, 0, 100, 6);
    EXPECT_EQ(t.h.queue(i, 0).depth(), 6u) << i;
  }
}

}  // namespace
}  // namespace surety
