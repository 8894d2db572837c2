// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/flows/contracts.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

#include "conditioners/rng.h"

namespace surety {
namespace {

TEST(ContractBounds, CountsByRuleAndInterface) {
  ContractBounds b(8);
  EXPECT_TRUE(b.room(0, 0, 1));
  EXPECT_FALSE(b.room(0, 0, 0));
  b.charge(1, 0, 0);
  EXPECT_FALSE(b.room(0, 0, 1));
  EXPECT_TRUE(b.room(0, 0, 2));
  EXPECT_TRUE(b.room(0, 1, 1));
  EXPECT_TRUE(b.room(1, 0, 1));
  b.charge(2, 0, 0);
  EXPECT_FALSE(b.room(0, 0, 2));
  EXPECT_EQ(b.count(0, 0), 2u);
  b.release(1);
  b.release(1);
  b.release(5);
  EXPECT_EQ(b.count(0, 0), 1u);
  EXPECT_TRUE(b.room(0, 0, 2));
}

TEST(ContractBounds, AContractIsChargedOnceAndToOnePair) {
  ContractBounds b(8);
  b.charge(3, 7, 1);
  b.charge(3, 7, 1);
  EXPECT_EQ(b.count(7, 1), 1u);
  EXPECT_TRUE(b.charged(3, 7, 1));
  b.charge(3, 8, 1);
  EXPECT_EQ(b.count(7, 1), 0u);
  EXPECT_EQ(b.count(8, 1), 1u);
  EXPECT_FALSE(b.charged(3, 7, 1));
}

// 32 slots, each of which every search visits: no more pairs than that, until the last contract of one ends.
TEST(ContractBounds, AFullTableHasNoRoom) {
  ContractBounds b(16);
  for (std::uint32_t id = 0; id < 16; ++id) b.charge(id, id, 0);
  EXPECT_TRUE(b.room(99, 0, 1)) << "half of the slots are free";
  ContractBounds full(16, 16);
  for (std::uint32_t id = 0; id < 16; ++id) full.charge(id, id, 0);
  EXPECT_FALSE(full.room(99, 0, 1));
  EXPECT_TRUE(full.room(5, 0, 2));
  full.release(4);
  EXPECT_TRUE(full.room(99, 0, 1));
  full.charge(4, 99, 0);
  EXPECT_EQ(full.count(99, 0), 1u);
  EXPECT_EQ(full.count(4, 0), 0u);
  EXPECT_FALSE(full.room(4, 0, 1));
}

// Against a map, with pairs that come and go far more often than there are slots.
TEST(ContractBounds, KeepsExactCounts) {
  constexpr std::uint32_t kFlows = 256;
  ContractBounds b(kFlows);
  std::map<std::pair<std::uint32_t, InterfaceIndex>, std::uint32_t> counts;
  std::vector<std::pair<std::uint32_t, InterfaceIndex>> of(kFlows, {0xffffffff, 0});
  Rng rng{11};
  for (int step = 0; step < 200'000; ++step) {
    const auto id = static_cast<FlowId>(rng.next() % kFlows);
    if (of[id].first != 0xffffffff) --counts[of[id]];
    if (rng.next() % 3 == 0) {
      b.release(id);
      of[id] = {0xffffffff, 0};
      continue;
    }
    of[id] = {static_cast<std::uint32_t>(rng.next() % 40 + static_cast<unsigned>(step) / 100),
              static_cast<InterfaceIndex>(rng.next() % 9)};
    b.charge(id, of[id].first, of[id].second);
    ++counts[of[id]];
    ASSERT_TRUE(b.charged(id, of[id].first, of[id].second)) << step;
    ASSERT_EQ(b.count(of[id].first, of[id].second), counts[of[id]]) << step;
    ASSERT_FALSE(b.room(of[id].first, of[id].second, counts[of[id]])) << step;
  }
  for (const auto& [pair, n] : counts) ASSERT_EQ(b.count(pair.first, pair.second), n);
}

}  // namespace
}  // namespace surety
