// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/held_packets.h"

#include <gtest/gtest.h>

#include "tests/unit/router/daemon/linux/responder_frames.h"

namespace surety {
namespace {

using frames::Octets;

IpAddress hop(std::size_t i) {
  return IpAddress::v4(10, 0, static_cast<std::uint8_t>(i >> 8), static_cast<std::uint8_t>(i));
}

TEST(HeldPackets, InTheOrderTheyCame) {
  HeldPackets held(4);
  EXPECT_TRUE(held.hold(hop(1), Octets{1, 1}));
  EXPECT_TRUE(held.hold(hop(2), Octets{2}));
  EXPECT_TRUE(held.hold(hop(1), Octets{3, 3, 3, 3}));
  EXPECT_EQ(held.take(hop(1)), (Octets{1, 1}));
  EXPECT_EQ(held.take(hop(1)), (Octets{3, 3, 3, 3}));
  EXPECT_FALSE(held.take(hop(1)));
  EXPECT_EQ(held.take(hop(2)), Octets{2});
}

TEST(HeldPackets, NoLargerThanTheLinkAllows) {
  HeldPackets held(4);
  EXPECT_FALSE(held.hold(hop(1), Octets(5)));
  EXPECT_FALSE(held.take(hop(1)));
}

TEST(HeldPackets, TheNewestFewForEach) {
  HeldPackets held(4);
  held.hold(hop(2), Octets{9});
  for (std::uint8_t i = 0; i < HeldPackets::kForEach + 3; ++i) held.hold(hop(1), Octets{i});
  for (std::uint8_t i = 3; i < HeldPackets::kForEach + 3; ++i) EXPECT_EQ(held.take(hop(1)), Octets{i});
  EXPECT_FALSE(held.take(hop(1)));
  EXPECT_EQ(held.take(hop(2)), Octets{9}) << "of its own part";
}

TEST(HeldPackets, TheOldestOfAllGivesWay) {
  HeldPackets held(4);
  for (std::size_t i = 0; i <= HeldPackets::kInAll; ++i) EXPECT_TRUE(held.hold(hop(i), Octets{1}));
  EXPECT_FALSE(held.take(hop(0)));
  EXPECT_TRUE(held.take(hop(1)));
  EXPECT_TRUE(held.take(hop(HeldPackets::kInAll)));
}

}  // namespace
}  // namespace surety
