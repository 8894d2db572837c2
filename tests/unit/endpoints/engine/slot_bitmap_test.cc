// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/engine/slot_bitmap.h"

#include <gtest/gtest.h>

#include <set>

#include "conditioners/rng.h"

namespace surety::endpoints {
namespace {

TEST(SlotBitmap, EmptyHasNoNext) {
  const SlotBitmap b(4096);
  EXPECT_EQ(b.next(0), SlotBitmap::kNone);
  EXPECT_EQ(b.next(4095), SlotBitmap::kNone);
}

TEST(SlotBitmap, GoesRound) {
  SlotBitmap b(128);
  b.set(5);
  EXPECT_EQ(b.next(0), 5u);
  EXPECT_EQ(b.next(5), 5u);
  EXPECT_EQ(b.next(6), 5u);
  EXPECT_EQ(b.next(127), 5u);
  b.clear(5);
  EXPECT_EQ(b.next(0), SlotBitmap::kNone);
}

TEST(SlotBitmap, BehavesLikeASet) {
  for (const std::uint32_t slots : {64u, 128u, 4096u, 8192u, 16384u}) {
    SlotBitmap b(slots);
    std::set<std::uint32_t> model;
    Rng rng(slots);
    for (int step = 0; step < 20'000; ++step) {
      const std::uint32_t slot = rng.next() % slots;
      if (rng.next() % 8 < 3) {
        b.set(slot);
        model.insert(slot);
      } else {
        b.clear(slot);
        model.erase(slot);
      }
      // Mostly few are set, so that long gaps are crossed.
      if (model.size() > 6) {
        b.clear(*model.begin());
        model.erase(model.begin());
      }
      const std::uint32_t from = rng.next() % slots;
      auto want = model.lower_bound(from);
      if (want == model.end()) want = model.begin();
      ASSERT_EQ(b.next(from), want == model.end() ? SlotBitmap::kNone : *want) << slots << ' ' << from;
    }
  }
}

}  // namespace
}  // namespace surety::endpoints
