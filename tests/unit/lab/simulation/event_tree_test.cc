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

void expect_the_earliest(std::uint32_t things) {
  Rng rng(1);
  EventTree tree(things);
  std::vector<Time> expected(things, kNever);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint32_t thing = rng.next() % things;
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

TEST(EventTree, KnowsTheEarliestWhateverChanges) {
  for (const std::uint32_t things : {1u, 15u, 16u, 17u, 37u, 256u, 257u, 300u}) expect_the_earliest(things);
}

}  // namespace
}  // namespace surety::lab
