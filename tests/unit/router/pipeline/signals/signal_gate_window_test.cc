// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/signals/signal_gate.h"

#include <gtest/gtest.h>

#include <set>

namespace surety {
namespace {

constexpr std::uint64_t kFirst = std::uint64_t{1'700'000'000} << 32;

TEST(ReplayWindow, TheFirstNumberIsSeen) {
  ReplayWindow w(kFirst);
  EXPECT_FALSE(w.accept(kFirst));
  EXPECT_TRUE(w.accept(kFirst + 1));
  EXPECT_FALSE(w.accept(kFirst + 1));
}

TEST(ReplayWindow, EndsA1024thBehindTheHighest) {
  ReplayWindow w(kFirst);
  EXPECT_TRUE(w.accept(kFirst + 2000));
  EXPECT_FALSE(w.accept(kFirst + 2000));        // 0 behind
  EXPECT_TRUE(w.accept(kFirst + 2000 - 1023));  // the last one inside
  EXPECT_FALSE(w.accept(kFirst + 2000 - 1023));
  EXPECT_FALSE(w.accept(kFirst + 2000 - 1024));  // too old to tell
  EXPECT_FALSE(w.accept(kFirst));
  EXPECT_FALSE(w.accept(0));
}

TEST(ReplayWindow, RemembersWhileItMoves) {
  ReplayWindow w(kFirst);
  EXPECT_TRUE(w.accept(kFirst + 1023));
  EXPECT_FALSE(w.accept(kFirst));  // still inside
  EXPECT_TRUE(w.accept(kFirst + 1));
  EXPECT_TRUE(w.accept(kFirst + 1024));
  EXPECT_FALSE(w.accept(kFirst));  // has left
  EXPECT_FALSE(w.accept(kFirst + 1));
  EXPECT_TRUE(w.accept(kFirst + 2));
}

TEST(ReplayWindow, AJumpLeavesNothingBehindAsSeen) {
  for (const std::uint64_t jump : {1023u, 1024u, 1025u, 1u << 31}) {
    ReplayWindow w(kFirst);
    EXPECT_TRUE(w.accept(kFirst + jump));
    EXPECT_TRUE(w.accept(kFirst + jump - 1));
    EXPECT_TRUE(w.accept(kFirst + jump - 1022));
    EXPECT_EQ(w.accept(kFirst + jump - 1023), jump != 1023);
  }
}

TEST(ReplayWindow, EndsOfTheNumbers) {
  ReplayWindow w(0);
  EXPECT_TRUE(w.accept(~std::uint64_t{0}));
  EXPECT_FALSE(w.accept(~std::uint64_t{0}));
  EXPECT_TRUE(w.accept(~std::uint64_t{0} - 1023));
  EXPECT_FALSE(w.accept(0));
}

// Against a set of everything that was ever accepted.
TEST(ReplayWindow, AgreesWithAModel) {
  ReplayWindow w(kFirst);
  std::set<std::uint64_t> seen{kFirst};
  std::uint64_t random = 1;
  for (int i = 0; i < 20'000; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const std::uint64_t highest = *seen.rbegin();
    const std::uint64_t sequence = highest + 5 - (random >> 33) % 1100;
    const bool fresh = !seen.contains(sequence) && sequence + 1024 > highest;
    ASSERT_EQ(w.accept(sequence), fresh) << i;
    if (fresh) seen.insert(sequence);
  }
}

}  // namespace
}  // namespace surety
