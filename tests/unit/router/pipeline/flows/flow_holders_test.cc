// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/flows/flow_holders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace surety {
namespace {

std::set<FlowId> set(const FlowHolders::Found& found) {
  return {found.ids().begin(), found.ids().end()};
}

TEST(FlowHolders, OfASmallTableEverybodyIsSeen) {
  FlowHolders holders(200, 1, 7);
  for (FlowId id = 0; id < 190; ++id) holders.add(id, 1);
  holders.add(190, 2), holders.add(191, 2), holders.add(192, 3);
  const auto found = holders.candidates(3);
  EXPECT_EQ(found.largest.ids().size(), FlowHolders::kCandidates);
  for (const FlowId id : found.largest.ids()) EXPECT_LT(id, 190u);
  EXPECT_EQ(set(found.own), std::set<FlowId>{192});
  const auto of_largest = holders.candidates(1);
  EXPECT_TRUE(of_largest.largest.ids().empty());
  for (const FlowId id : of_largest.own.ids()) EXPECT_LT(id, 190u);
  for (FlowId id = 0; id < 186; ++id) holders.remove(id);
  EXPECT_EQ(set(holders.candidates(3).largest), (std::set<FlowId>{186, 187, 188, 189}));
}

TEST(FlowHolders, AnEmptyTableHasNone) {
  FlowHolders none(0, 1, 7), empty(100, 1, 7);
  EXPECT_TRUE(none.candidates(1).any.ids().empty());
  EXPECT_TRUE(empty.candidates(1).any.ids().empty());
}

TEST(FlowHolders, AContractIsReferredToUntilAllHaveLeft) {
  FlowHolders holders(10, 1, 7);
  holders.join(3), holders.join(3), holders.leave(3);
  EXPECT_TRUE(holders.referred_to(3));
  holders.leave(3);
  EXPECT_FALSE(holders.referred_to(3));
}

// Random tables: what is found yields to the newcomer; something is found where a tenth of the table does,
// and of a small table always.
TEST(FlowHolders, WhatIsFoundYields) {
  Rng rng(5);
  int found_some = 0;
  for (int round = 0; round < 300; ++round) {
    const std::uint32_t flows = 20 + rng.next() % (round % 2 == 0 ? 200 : 5000);
    FlowHolders holders(flows, 3, rng.next());
    CustomerQuota shares(3);
    std::map<FlowId, Customer> who;
    const std::uint32_t customers = 1 + rng.next() % 100, skew = 1 + rng.next() % 4;
    for (FlowId id = 0; id < flows; ++id) {
      std::uint32_t c = rng.next() % customers;
      for (std::uint32_t i = 1; i < skew; ++i) c = std::min(c, rng.next() % customers);
      const auto customer = static_cast<Customer>(c % 3 << 8 | c);
      holders.add(id, customer);
      shares.add(customer);
      who[id] = customer;
    }
    const auto newcomer = static_cast<Customer>(rng.next() % 3 << 8 | rng.next() % 256);
    const auto found = holders.candidates(newcomer);
    for (const FlowId id : found.any.ids()) ASSERT_TRUE(shares.yields(who.at(id), newcomer)) << round;
    for (const FlowId id : found.largest.ids()) ASSERT_TRUE(shares.yields(who.at(id), newcomer)) << round;
    for (const FlowId id : found.own.ids()) ASSERT_EQ(who.at(id), newcomer) << round;
    const auto yield =
        std::ranges::count_if(who, [&](const auto& w) { return shares.yields(w.second, newcomer); });
    const bool enough = flows <= FlowHolders::kLines * FlowHolders::kLine ? yield > 0 : 10 * yield > flows;
    ASSERT_TRUE(!enough || !found.largest.ids().empty()) << round;
    found_some += enough;
  }
  EXPECT_GT(found_some, 100);
}

}  // namespace
}  // namespace surety
