// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/simulation/event_tree.h"

#include <gtest/gtest.h>

#include "conditioners/rng.h"

namespace surety::lab {
namespace {

Time at(std::int64_t ns) {
  return Time(Duration(ns));
}

TEST(EventTree, NothingIsDueAtTheStart) {
  for (const std::size_t n : {0u, 1u, 2u, 3u, 64u, 65u}) EXPECT_EQ(EventTree(n).next(), kNever) << n;
}

TEST(EventTree, KnowsTheEarliestWhateverChanges) {
  Rng rng(1);
  constexpr std::uint32_t kThings = 37;
  EventTree tree(kThings);
  std::vector<Time> expected(kThings, kNever);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint32_t thing = rng.next() % kThings;
    expected[thing] = rng.next() % 8 == 0 ? kNever : at(rng.next() % 50);  // few values: many are equal
    tree.set(thing, expected[thing]);
    const auto first = std::min_element(expected.begin(), expected.end());
    ASSERT_EQ(tree.next(), *first);
    if (*first != kNever) {
      ASSERT_EQ(tree.first(), first - expected.begin()) << "of equal times the lowest number";
    }
    ASSERT_EQ(tree.when(thing), expected[thing]);
  }
}

}  // namespace
}  // namespace surety::lab
