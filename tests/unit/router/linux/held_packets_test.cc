// SPDX-License-Identifier: BSD-3-Clause
#include "router/linux/held_packets.h"

#include <gtest/gtest.h>

#include "tests/unit/router/linux/responder_frames.h"

namespace surety {
namespace {

using frames::Octets;

IpAddress hop(std::size_t i) {
  return responder_frames::address("10.0.0." + std::to_string(i));
}
Octets taken(HeldPackets& held, std::size_t i) {
  const auto packet = held.take(hop(i));
  return Octets(packet.begin(), packet.end());
}

TEST(HeldPackets, TheNewestForEachNextHopUntilItIsTaken) {
  HeldPackets held(4);
  EXPECT_TRUE(held.hold(hop(1), Octets{1, 1}));
  EXPECT_TRUE(held.hold(hop(2), Octets{2}));
  EXPECT_TRUE(held.hold(hop(1), Octets{3, 3, 3, 3}));
  EXPECT_EQ(taken(held, 1), (Octets{3, 3, 3, 3}));
  EXPECT_TRUE(taken(held, 1).empty());
  EXPECT_EQ(taken(held, 2), (Octets{2}));
  EXPECT_TRUE(taken(held, 3).empty());
}

TEST(HeldPackets, NoLargerThanTheLinkAllows) {
  HeldPackets held(4);
  EXPECT_FALSE(held.hold(hop(1), Octets(5)));
  EXPECT_TRUE(taken(held, 1).empty());
}

TEST(HeldPackets, OnlyAFewAndThePlaceOfOneThatIsTaken) {
  HeldPackets held(4);
  for (std::size_t i = 1; i <= HeldPackets::kFew; ++i) EXPECT_TRUE(held.hold(hop(i), Octets{1}));
  EXPECT_FALSE(held.hold(hop(100), Octets{1}));
  EXPECT_TRUE(held.hold(hop(1), Octets{2})) << "another for the same one has a place";
  taken(held, 5);
  EXPECT_TRUE(held.hold(hop(100), Octets{7}));
  EXPECT_EQ(taken(held, 100), Octets{7});
}

}  // namespace
}  // namespace surety
