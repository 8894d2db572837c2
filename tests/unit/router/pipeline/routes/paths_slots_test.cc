// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/paths.h"

#include <gtest/gtest.h>

namespace surety {
namespace {

Path path(std::uint8_t third, std::uint8_t length = 24) {
  return {IpAddress::v4(10, 2, third, 0), length};
}

TEST(PathSlots, NothingIsFoundAtTheStart) {
  const PathSlots paths(4);
  for (std::uint8_t n = 0; n < 8; ++n) EXPECT_EQ(paths.find(path(n), 0), 0) << n;
}

TEST(PathSlots, ASlotOfAPathAndADomain) {
  PathSlots paths(4);
  paths.add(3, path(5), 2);
  EXPECT_EQ(paths.find(path(5), 2), 3);
  EXPECT_EQ(paths.find(path(5), 1), 0) << "another domain";
  EXPECT_EQ(paths.find(path(4), 2), 0) << "another path";
  EXPECT_EQ(paths.find(path(5, 25), 2), 0) << "a narrower one";
  EXPECT_EQ(paths.path(3), path(5));
  EXPECT_EQ(paths.domain(3), 2);
}

TEST(PathSlots, BothFamilies) {
  PathSlots paths(4);
  const Path six{IpAddress{0xb80d'0120, 0}, 48};
  paths.add(1, six, 0);
  paths.add(2, {}, 0);
  EXPECT_EQ(paths.find(six, 0), 1);
  EXPECT_EQ(paths.find({}, 0), 2);
}

// First, middle and last of those in one bucket: of so few buckets, whichever they are.
TEST(PathSlots, RemovingOneLeavesTheOthers) {
  constexpr PathSlots::Slot kSlots = 40;
  for (PathSlots::Slot gone = 1; gone <= kSlots; ++gone) {
    PathSlots paths(kSlots);
    for (PathSlots::Slot s = 1; s <= kSlots; ++s) paths.add(s, path(4), static_cast<std::uint16_t>(10 * s));
    paths.remove(gone);
    for (PathSlots::Slot s = 1; s <= kSlots; ++s)
      EXPECT_EQ(paths.find(path(4), static_cast<std::uint16_t>(10 * s)), s == gone ? 0 : s);
    EXPECT_EQ(paths.path(gone), path(4)) << "until it is used again";
    EXPECT_EQ(paths.domain(gone), 10 * gone);
    paths.add(gone, path(1), 10);
    EXPECT_EQ(paths.find(path(1), 10), gone);
  }
}

}  // namespace
}  // namespace surety
