// SPDX-License-Identifier: BSD-3-Clause
#include "aqm/hierarchy/line_arena.h"

#include <gtest/gtest.h>

#include <set>

namespace surety {
namespace {

TEST(LineArena, GivesBlocksThatDoNotOverlap) {
  LineArena arena(100);
  std::set<LineNumber> lines;
  for (const std::uint32_t size : {3u, 10u, 1u, 6u})
    for (LineNumber at = arena.take(size), i = 0; i < size; ++i) EXPECT_TRUE(lines.insert(at + i).second);
  EXPECT_EQ(lines.count(0), 0u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(arena.address(1)) % LineArena::kLine, 0u);
}

TEST(LineArena, GivesWhatCameBackToTheSameSize) {
  LineArena arena(10);
  const LineNumber a = arena.take(5), b = arena.take(5);
  EXPECT_EQ(arena.take(1), 0u);
  arena.give(a, 5);
  arena.give(b, 5);
  EXPECT_EQ(arena.take(6), 0u);
  EXPECT_EQ(arena.take(5), b);
  EXPECT_EQ(arena.take(2), a);  // a part
  EXPECT_EQ(arena.take(5), 0u);
  EXPECT_EQ(arena.take(3), a + 2);
  EXPECT_EQ(arena.take(1), 0u);
}

}  // namespace
}  // namespace surety
