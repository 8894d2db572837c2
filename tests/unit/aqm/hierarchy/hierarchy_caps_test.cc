// SPDX-License-Identifier: BSD-3-Clause
// Weighted classes with caps, of interfaces.
#include <gtest/gtest.h>

#include "aqm/hierarchy/hierarchy.h"
#include "tests/unit/aqm/capped_shares.h"
#include "tests/unit/aqm/hierarchy/tree.h"

namespace surety {
namespace {

using namespace literals;

constexpr auto kPort = Hierarchy::kPort;

ClassParams capped(std::uint32_t weight, std::optional<Rate> cap) {
  ClassParams c = data_class(weight);
  c.cap = cap;
  return c;
}

class CappedClasses : public testing::TestWithParam<CappedCase> {};

// All classes of an interface backlogged: each gets its rate to 0.5 % of the interface's.
TEST_P(CappedClasses, GetTheSmallerOfShareAndCap) {
  const CappedCase& c = GetParam();
  Tree t;
  std::vector<ClassParams> classes;
  for (const CappedClass& k : c.classes) classes.push_back(capped(k.weight, k.cap));
  t.interface(0, kPort, t.bought(classes, 1, c.port, 100));
  for (std::size_t k = 0; k < classes.size(); ++k) t.fill(0, k, 1500, 50);
  std::size_t packets = 0, calls = 0;
  for (Packet p; t.now < Tree::kStart + 4s; ++calls) {
    for (; t.take(p); ++packets) t.put(0, p.flow, p.length);
    ASSERT_TRUE(t.wait(kNever));
  }
  for (std::size_t k = 0; k < classes.size(); ++k)
    EXPECT_NEAR(8.0 * static_cast<double>(t.bytes[static_cast<FlowId>(k)]) / 4,
                static_cast<double>(c.classes[k].gets.bits_per_second()),
                0.005 * static_cast<double>(c.port.bits_per_second()))
        << k;
  EXPECT_LT(calls, 4 * packets);
}
INSTANTIATE_TEST_SUITE_P(Cases, CappedClasses, testing::ValuesIn(kCappedCases));

TEST(HierarchyCaps, HoldTheirClassAndNobodyElse) {
  Tree t;
  t.interface(1, kPort, t.bought({capped(1, 8_Mbps), data_class()}));
  t.interface(2, kPort, t.bought({capped(1, 8_Mbps)}));
  t.fill(1, 0, 1000, 5);
  t.fill(2, 0, 1000, 5);
  for (int i = 0; i < 6; ++i) EXPECT_GT(t.next(), 0);
  EXPECT_EQ(t.next(), -1);
  EXPECT_GT(t.h.next_event(t.now), t.now);
  t.put(1, 1, 1000);
  EXPECT_EQ(t.next(), 1);
  EXPECT_EQ(t.next(), -1);
  int left = 0;
  while (t.wait(Tree::kStart + 1ms + 2 * Hierarchy::kTimerSlot))
    while (t.next() >= 0) ++left;
  EXPECT_EQ(left, 4) << "one of each at once, one of each a millisecond later";
}

// An uncapped class of the same interface, and a cap that a reload takes away.
TEST(HierarchyCaps, GoWithAChangeOfParameters) {
  Tree t;
  t.interface(1, kPort, t.bought({capped(1, 8_Mbps), data_class()}));
  t.fill(1, 0, 1000, 20);
  while (t.next() >= 0) {
  }
  EXPECT_EQ(t.h.queue(1, 0).depth(), 17u);
  t.h.change(1, kPort, t.bought({data_class(), data_class()}), t.now, 1);
  for (int i = 0; i < 17; ++i) EXPECT_EQ(t.next(), 1);
  EXPECT_EQ(t.h.depth(), 0u);
}

}  // namespace
}  // namespace surety
