// SPDX-License-Identifier: BSD-3-Clause
// Who gets what, beside a fluid that is shared the same way.
#include <gtest/gtest.h>

#include <cmath>

#include "aqm/hierarchy/hierarchy.h"
#include "tests/unit/aqm/hierarchy/fluid.h"
#include "tests/unit/aqm/hierarchy/saturation.h"
#include "tests/unit/aqm/hierarchy/tree.h"

namespace surety {
namespace {

using namespace literals;

constexpr auto kPort = Hierarchy::kPort;

// Two groups, one with a shaper, of three interfaces, one of each with a shaper, of a capped strict class and
// data.
constexpr double kPortRate = 100e6, kGroupRate = 60e6, kInterfaceRate = 20e6, kCap = 5e6;
constexpr std::array<std::uint32_t, 2> kGroupWeights{2, 1};
constexpr std::array<std::uint32_t, 3> kWeights{1, 2, 4};

Fluid fluid(std::uint32_t active) {
  Fluid port{.weight = 1, .rate = kPortRate, .children = {}};
  for (std::uint32_t g = 0; g < 2; ++g) {
    Fluid& group = port.children.emplace_back();
    group.weight = kGroupWeights[g];
    if (g == 0) group.rate = kGroupRate;
    for (std::uint32_t i = 0; i < 3; ++i) {
      Fluid& interface = group.children.emplace_back();
      interface.weight = kWeights[i];
      if (i == 2) interface.rate = kInterfaceRate;
      const std::uint32_t bits = active >> (g * 3 + i) * 2;
      if ((bits & 1) != 0) interface.strict = kCap;
      interface.data = (bits & 2) != 0;
    }
  }
  port.solve();
  return port;
}

// With sanitizers, which other tests of the same objects have, a third of them.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint32_t kStep = 3;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr std::uint32_t kStep = 3;
#else
constexpr std::uint32_t kStep = 1;
#endif
#else
constexpr std::uint32_t kStep = 1;
#endif

// All 4,095 of who is active: each gets what the fluid says, to half a point of the port's rate, in 100 ms.
TEST(HierarchyShares, AreThoseOfAFluidWhoeverIsActive) {
  const HierarchyRoom room{.interfaces = 6, .groups = 2, .queues = 12, .packets = 1000};
  const auto bits = [](double rate) { return Rate::bits_per_second(static_cast<std::uint64_t>(rate)); };
  for (std::uint32_t active = 1; active < 1u << 12; active += kStep) {
    Tree t(bits(kPortRate), room);
    t.group(0, kGroupWeights[0], bits(kGroupRate));
    t.group(1, kGroupWeights[1]);
    Saturation load(t, 6);
    load.strict = 200;
    for (std::uint32_t i = 0; i < 6; ++i) {
      std::optional<Rate> rate;
      if (i % 3 == 2) rate = bits(kInterfaceRate);
      t.interface(i, i / 3, t.bought({strict_class(bits(kCap)), data_class()}, kWeights[i % 3], rate));
      for (std::uint8_t c = 0; c < 2; ++c)
        if ((active >> (2 * i + c) & 1) != 0) load.begin(i, c);
    }
    load.run(20ms, 100us);  // bursts leave
    load.forget();
    load.run(100ms, 100us);
    const Fluid expected = fluid(active);
    for (std::uint32_t i = 0; i < 6; ++i) {
      const Fluid& f = expected.children[i / 3].children[i % 3];
      const double points = 100 / kPortRate * 8 / 0.1;
      const double strict = points * static_cast<double>(load.bytes(i, 0));
      const double data = points * static_cast<double>(load.bytes(i, 1));
      ASSERT_NEAR(strict, f.got_strict / kPortRate * 100, 0.5) << "strict of " << i << ", active " << active;
      ASSERT_NEAR(data, f.got_data / kPortRate * 100, 0.5) << "data of " << i << ", active " << active;
    }
  }
}

// Shares of a second, in points of the whole and against the guarantee, which is much stricter where they are
// many.
void share_by_weight(std::uint32_t interfaces, Rate rate, Duration duration, double points,
                     std::uint32_t largest = 4) {
  Tree t(rate);
  Saturation load(t, interfaces);
  std::vector<const InterfaceParams*> bought;
  for (std::uint32_t w = 1; w <= largest; ++w) bought.push_back(&t.bought({data_class()}, w));
  std::uint64_t weights = 0;
  for (std::uint32_t i = 0; i < interfaces; ++i) {
    t.interface(i, kPort, *bought[i % largest]);
    weights += i % largest + 1;
    load.begin(i, 0);
  }
  load.run(duration, 10us);
  const auto all = static_cast<double>(load.all());
  EXPECT_NEAR(all, rate.bytes_per_second() * seconds(duration), 200'000) << "of rate and burst";
  double worst = 0, least = 1e18, most = 0;
  for (std::uint32_t i = 0; i < interfaces; ++i) {
    const double weight = i % largest + 1, bytes = static_cast<double>(load.bytes(i));
    worst = std::max(worst, std::abs(bytes / all - weight / static_cast<double>(weights)));
    least = std::min(least, bytes / weight);
    most = std::max(most, bytes / weight);
  }
  EXPECT_LE(worst * 100, points);
  EXPECT_LE(most - least, SiblingWheel::kRound / double(largest) + 2 * 1500);  // a packet of weight 1 twice
  ::testing::Test::RecordProperty("points_of_" + std::to_string(interfaces), std::to_string(worst * 100));
}

TEST(HierarchyShares, OfTenForASecond) {
  share_by_weight(10, 1_Gbps, 1s, 0.2);
}
TEST(HierarchyShares, OfTenForATenthOfASecond) {
  share_by_weight(10, 1_Gbps, 100ms, 1);
}
TEST(HierarchyShares, OfAThousandForASecond) {
  share_by_weight(1'000, 1_Gbps, 1s, 0.2);
}
TEST(HierarchyShares, OfAThousandForATenthOfASecond) {
  share_by_weight(1'000, 1_Gbps, 100ms, 1);
}
TEST(HierarchyShares, OfTenThousandForASecond) {
  share_by_weight(10'000, 10_Gbps, 1s, 0.2);
}
TEST(HierarchyShares, OfTenThousandForATenthOfASecond) {
  share_by_weight(10'000, 10_Gbps, 100ms, 1);
}

// Sizes differ as much as they can: bytes are shared, not packets.
TEST(HierarchyShares, AreOfBytesWhateverTheSizes) {
  Tree t(1_Gbps, {.interfaces = 2, .groups = 1, .queues = 2, .packets = 1000},
         {WireOverhead::Kind::bytes, 38});
  t.interface(0, kPort, t.bought({data_class()}));
  t.interface(1, kPort, t.bought({data_class()}));
  std::array<std::uint64_t, 2> wire{};
  constexpr std::array<std::uint16_t, 2> kLength{64, 9000};
  for (const std::uint32_t i : {0u, 1u}) t.fill(i, 0, kLength[i], 200);
  for (int n = 0; n < 20'000; ++n) {
    const int i = t.next();
    if (i < 0) {
      ASSERT_TRUE(t.wait(t.now + 1s));
      continue;
    }
    wire[static_cast<std::size_t>(i)] += kLength[static_cast<std::size_t>(i)] + 38u;
    t.put(static_cast<Hierarchy::Interface>(i), 0, kLength[static_cast<std::size_t>(i)]);
    ASSERT_LE(std::abs(static_cast<double>(wire[0]) - static_cast<double>(wire[1])), 2048 + 9038 + 102);
  }
}

// Weights 1 and 10,000: the wheel has 256 rounds, the reference is 128.
TEST(HierarchyShares, OfWeightsThatAreVeryFarApart) {
  Tree t(1_Gbps);
  Saturation load(t, 3);
  t.interface(0, kPort, t.bought({data_class()}, 1));
  t.interface(1, kPort, t.bought({data_class()}, 10'000));
  t.interface(2, kPort, t.bought({data_class()}, 10'000));
  for (const std::uint32_t i : {0u, 1u, 2u}) load.begin(i, 0);
  load.run(1s, 10us);
  const auto all = static_cast<double>(load.all());
  EXPECT_NEAR(static_cast<double>(load.bytes(0)), all / 20'001, 2 * 1500);
  EXPECT_NEAR(static_cast<double>(load.bytes(1)) / all, 0.5, 0.002);
}

// Three of one group and one of another: by groups first.
TEST(HierarchyShares, AreOfGroupsFirst) {
  Tree t(1_Gbps);
  Saturation load(t, 4);
  t.group(0, 1);
  t.group(1, 1);
  const InterfaceParams& bought = t.bought({data_class()});
  for (std::uint32_t i = 0; i < 4; ++i) {
    t.interface(i, i / 3, bought);
    load.begin(i, 0);
  }
  load.run(1s, 10us);
  const auto all = static_cast<double>(load.all());
  for (std::uint32_t i = 0; i < 3; ++i)
    EXPECT_NEAR(static_cast<double>(load.bytes(i)) / all, 1.0 / 6, 0.0005);
  EXPECT_NEAR(static_cast<double>(load.bytes(3)) / all, 0.5, 0.0005);
}

TEST(HierarchyShares, OfAllStrictAreByWeightToo) {
  Tree t(1_Gbps);
  Saturation load(t, 3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    t.interface(i, kPort, t.bought({strict_class()}, i + 1));
    load.begin(i, 0);
  }
  load.run(100ms, 10us);
  for (std::uint32_t i = 0; i < 3; ++i)
    EXPECT_NEAR(static_cast<double>(load.bytes(i)) / static_cast<double>(load.all()), (i + 1) / 6.0, 0.001);
}

}  // namespace
}  // namespace surety
