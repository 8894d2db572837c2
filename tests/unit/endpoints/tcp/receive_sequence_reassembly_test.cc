// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/receive_sequence.h"

#include <gtest/gtest.h>

#include <set>

#include "conditioners/rng.h"

namespace surety::endpoints {
namespace {

using Added = TcpReassembly::Added;

TEST(TcpReassembly, NothingIsBeyondAtFirst) {
  TcpReassembly r;
  EXPECT_TRUE(r.empty());
  EXPECT_EQ(r.advance(100), 100u);
}

TEST(TcpReassembly, AFilledGapReleasesWhatIsBehindIt) {
  TcpReassembly r;
  EXPECT_EQ(r.add(200, 300), Added::fresh);
  EXPECT_EQ(r.advance(150), 150u) << "still a gap";
  EXPECT_EQ(r.ranges().size(), 1u);
  EXPECT_EQ(r.advance(200), 300u);
  EXPECT_TRUE(r.empty());
}

TEST(TcpReassembly, OneGapAtATime) {
  TcpReassembly r;
  r.add(200, 300);
  r.add(400, 500);
  EXPECT_EQ(r.advance(250), 300u) << "overlaps the first";
  EXPECT_EQ(r.ranges().size(), 1u);
  EXPECT_EQ(r.advance(450), 500u);
}

TEST(TcpReassembly, WhatIsPassedIsForgotten) {
  TcpReassembly r;
  r.add(200, 300);
  r.add(400, 500);
  EXPECT_EQ(r.advance(600), 600u);
  EXPECT_TRUE(r.empty());
}

TEST(TcpReassembly, NeighboursBecomeOneRange) {
  TcpReassembly r;
  r.add(200, 300);
  r.add(400, 500);
  EXPECT_EQ(r.add(300, 400), Added::fresh);
  EXPECT_EQ(r.ranges().size(), 1u);
  EXPECT_EQ(r.add(500, 600), Added::fresh);
  EXPECT_EQ(r.add(100, 200), Added::fresh);
  EXPECT_EQ(r.ranges().size(), 1u);
  EXPECT_EQ(r.advance(100), 600u);
}

TEST(TcpReassembly, KnowsWhatItHasAlready) {
  TcpReassembly r;
  r.add(200, 300);
  EXPECT_EQ(r.add(200, 300), Added::duplicate);
  EXPECT_EQ(r.add(250, 260), Added::duplicate);
  EXPECT_EQ(r.add(250, 301), Added::fresh) << "one new byte";
  EXPECT_EQ(r.add(199, 250), Added::fresh);
  EXPECT_EQ(r.ranges().size(), 1u);
}

TEST(TcpReassembly, OneSegmentMayCoverManyRanges) {
  TcpReassembly r;
  for (std::uint32_t i = 0; i < 10; ++i) r.add(100 * i, 100 * i + 10);
  EXPECT_EQ(r.ranges().size(), 10u);
  EXPECT_EQ(r.add(205, 705), Added::fresh);  // touches 200 .. 700
  EXPECT_EQ(r.ranges().size(), 5u);
  EXPECT_EQ(r.advance(200), 710u);
  EXPECT_EQ(r.ranges().size(), 2u);
}

// The window that is offered is what bounds it: 10,000 holes are kept like one.
TEST(TcpReassembly, KeepsWhateverTheWindowHolds) {
  TcpReassembly r;
  constexpr std::uint32_t kHoles = 10'000;
  for (std::uint32_t i = kHoles; i > 0; --i) ASSERT_EQ(r.add(200 * i, 200 * i + 100), Added::fresh);
  EXPECT_EQ(r.ranges().size(), kHoles);
  for (std::uint32_t i = 0; i < kHoles; ++i) ASSERT_EQ(r.advance(200 * i + 200), 200 * i + 300);
  EXPECT_TRUE(r.empty());
}

TEST(TcpReassembly, WhatNeedsARangeTooManyIsRefused) {
  TcpReassembly r;
  constexpr auto kMost = static_cast<std::uint32_t>(RangeSet::kMost);
  for (std::uint32_t i = 0; i < kMost; ++i) ASSERT_EQ(r.add(100 * i, 100 * i + 10), Added::fresh);
  EXPECT_EQ(r.add(50, 60), Added::full);
  EXPECT_EQ(r.add(100, 110), Added::duplicate);
  EXPECT_EQ(r.add(110, 120), Added::fresh);
}

TEST(TcpReassembly, SequenceNumbersWrap) {
  TcpReassembly r;
  r.add(0xffff'fff0, 0x10);
  EXPECT_EQ(r.add(0x20, 0x30), Added::fresh);
  EXPECT_EQ(r.add(0xffff'ff00, 0xffff'ff10), Added::fresh);
  EXPECT_EQ(r.ranges().size(), 3u);
  EXPECT_EQ(r.advance(0xffff'ff10), 0xffff'ff10u);
  EXPECT_EQ(r.advance(0xffff'fff8), 0x10u);
  EXPECT_EQ(r.advance(0x20), 0x30u);
}

// Against a set of bytes.
TEST(TcpReassembly, RandomSegmentsAreAccountedToTheByte) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Rng rng(seed);
    TcpReassembly r;
    std::set<std::uint32_t> have;
    std::uint32_t next = 0;  // counted from here, near the wrap
    constexpr std::uint32_t kBase = 0xffff'ff80;
    for (int step = 0; step < 300; ++step) {
      const std::uint32_t begin = next + rng.next() % 200 + (rng.next() % 4 != 0 ? 1 : 0);
      const std::uint32_t end = begin + 1 + rng.next() % 20;
      if (begin == next) {
        for (next = end; have.contains(next); ++next) {
        }
        ASSERT_EQ(r.advance(kBase + end), kBase + next);
        have.erase(have.begin(), have.lower_bound(next));
        continue;
      }
      bool fresh = false;
      for (std::uint32_t b = begin; b < end; ++b) fresh |= have.insert(b).second;
      ASSERT_EQ(r.add(kBase + begin, kBase + end), fresh ? Added::fresh : Added::duplicate);
    }
  }
}

}  // namespace
}  // namespace surety::endpoints
