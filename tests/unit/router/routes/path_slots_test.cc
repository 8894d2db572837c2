// SPDX-License-Identifier: BSD-3-Clause
#include "router/routes/path_slots.h"

#include <gtest/gtest.h>

namespace surety {
namespace {

TEST(PathSlots, NothingIsFoundAtTheStart) {
  const PathSlots paths(8, 4);
  for (std::uint32_t hop = 0; hop < 8; ++hop) EXPECT_EQ(paths.find(hop, 0), 0) << hop;
  EXPECT_EQ(paths.stranger({0, 8}), 0);
}

TEST(PathSlots, ASlotOfAPathAndADomain) {
  PathSlots paths(8, 4);
  paths.add(3, {5, 1}, 2);
  EXPECT_EQ(paths.find(5, 2), 3);
  EXPECT_EQ(paths.find(5, 1), 0) << "another domain";
  EXPECT_EQ(paths.find(4, 2), 0) << "another path";
  EXPECT_EQ(paths.find(6, 2), 0);
  EXPECT_EQ(paths.path(3).first, 5u);
  EXPECT_EQ(paths.path(3).count, 1u);
  EXPECT_EQ(paths.domain(3), 2);
}

TEST(PathSlots, AllNextHopsOfABlockAreOnePath) {
  PathSlots paths(8, 4);
  paths.add(1, {2, 3}, 0);
  paths.add(2, {2, 3}, 7);
  for (std::uint32_t hop = 0; hop < 8; ++hop) {
    const bool in = hop >= 2 && hop < 5;
    EXPECT_EQ(paths.find(hop, 0), in ? 1 : 0) << hop;
    EXPECT_EQ(paths.find(hop, 7), in ? 2 : 0) << hop;
  }
}

// First, middle and last of a path's slots.
TEST(PathSlots, RemovingOneLeavesTheOthers) {
  for (PathSlots::Slot gone = 1; gone <= 3; ++gone) {
    PathSlots paths(8, 4);
    for (PathSlots::Slot s = 1; s <= 3; ++s) paths.add(s, {4, 2}, static_cast<std::uint16_t>(10 * s));
    paths.remove(gone);
    for (std::uint32_t hop = 4; hop < 6; ++hop)
      for (PathSlots::Slot s = 1; s <= 3; ++s)
        EXPECT_EQ(paths.find(hop, static_cast<std::uint16_t>(10 * s)), s == gone ? 0 : s);
    EXPECT_EQ(paths.domain(gone), 10 * gone) << "until it is used again";
    paths.add(gone, {1, 1}, 10);
    EXPECT_EQ(paths.find(1, 10), gone);
  }
}

TEST(PathSlots, StrangersAreThoseOfBlocksThatOverlap) {
  PathSlots paths(16, 4);
  paths.add(1, {4, 4}, 0);
  EXPECT_EQ(paths.stranger({4, 4}), 0) << "itself";
  EXPECT_EQ(paths.stranger({2, 2}), 0);
  EXPECT_EQ(paths.stranger({8, 2}), 0);
  EXPECT_EQ(paths.stranger({3, 2}), 1);
  EXPECT_EQ(paths.stranger({7, 1}), 1);
  EXPECT_EQ(paths.stranger({4, 3}), 1);
  EXPECT_EQ(paths.stranger({0, 16}), 1);
  paths.remove(1);
  EXPECT_EQ(paths.stranger({0, 16}), 0);
}

}  // namespace
}  // namespace surety
