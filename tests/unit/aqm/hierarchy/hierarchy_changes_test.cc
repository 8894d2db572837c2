// SPDX-License-Identifier: BSD-3-Clause
#include "aqm/hierarchy/hierarchy.h"

#include <gtest/gtest.h>

#include "tests/unit/aqm/hierarchy/saturation.h"
#include "tests/unit/aqm/hierarchy/tree.h"

namespace surety {
namespace {

using namespace literals;

constexpr auto kPort = Hierarchy::kPort;

TEST(HierarchyUpdate, BringsChangesAndTakesAwayInSlices) {
  Tree t;
  const InterfaceParams& bought = t.bought({data_class()});
  const GroupParams group(shaped({}), 1);
  HierarchyUpdate first;
  first.set_group(0, group);
  for (std::uint32_t i = 0; i < 1000; ++i) first.set(i, 0, bought, i);
  int calls = 1;
  for (; first.apply(t.h, 100, t.now); ++calls) {
  }
  EXPECT_EQ(calls, 11);
  EXPECT_EQ(first.refused(), 0u);
  for (std::uint32_t i = 0; i < 1000; ++i) t.put(i, 0, 100);

  HierarchyUpdate second;  // to another group; the last ten go
  const InterfaceParams& other = t.bought({data_class(1, 50)}, 2, 1_Gbps);
  second.set_group(1, group);
  second.remove_group(0);
  for (std::uint32_t i = 0; i < 990; ++i) second.set(i, 1, other, i);
  for (std::uint32_t i = 990; i < 1000; ++i) second.remove(i);
  while (second.apply(t.h, 64, t.now)) t.next();
  EXPECT_FALSE(t.h.has_group(0));
  EXPECT_FALSE(t.h.has(995));
  std::array<Packet, 64> out;
  const std::size_t removed = t.h.take_removed(out, t.now);
  std::uint64_t left = 0;
  for (const auto& [flow, n] : t.left) left += n;
  std::size_t n = 0;
  while (t.next() >= 0) ++n;
  EXPECT_EQ(left + removed + n, 1000u);
}

TEST(HierarchyUpdate, SaysForHowManyThereWasNoRoom) {
  Tree t({}, {.interfaces = 10, .groups = 1, .queues = 2, .packets = 100});
  const std::vector<ClassParams> classes(16);
  const InterfaceParams bought(shaped({}), 1, classes, 3);
  HierarchyUpdate update;
  for (std::uint32_t i = 0; i < 3; ++i) update.set(i, kPort, bought, i);
  update.set(4, 0, bought, 1);  // there is no such group
  EXPECT_FALSE(update.apply(t.h, 100, t.now));
  EXPECT_EQ(update.refused(), 3u);
  EXPECT_TRUE(t.h.has(0));
}

// 4,000 under load get half of their rate, and a tenth of them nothing new: those lose no token and no turn.
TEST(HierarchyUpdate, LeavesWhoIsNotConcernedAlone) {
  constexpr std::uint32_t kAll = 400;
  Tree t;
  Saturation load(t, kAll);
  const InterfaceParams& before = t.bought({strict_class(), data_class()}, 1, 8_Mbps);
  const InterfaceParams& after = t.bought({strict_class(), data_class(1, 20)}, 1, 4_Mbps);
  for (std::uint32_t i = 0; i < kAll; ++i) {
    t.interface(i, kPort, before);
    load.begin(i, 1);
  }
  load.run(50ms);
  load.forget();
  HierarchyUpdate update;
  for (std::uint32_t i = 0; i < kAll; ++i)
    if (i % 10 != 0) update.set(i, kPort, after, i);
  while (update.apply(t.h, 16, t.now)) load.run(10us, 1us);
  load.run(1s - 10us * ((kAll * 9 / 10 + 15) / 16 - 1), 10us);
  for (std::uint32_t i = 0; i < kAll; ++i)
    EXPECT_NEAR(static_cast<double>(load.bytes(i)), i % 10 == 0 ? 1e6 : 0.5e6, 1600) << i;
}

}  // namespace
}  // namespace surety
