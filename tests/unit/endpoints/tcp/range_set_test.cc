// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/range_set.h"

#include <gmock/gmock.h>

#include <numeric>
#include <set>
#include <vector>

#include "conditioners/rng.h"

namespace surety::endpoints {
namespace {

using Range = RangeSet::Range;

std::vector<Range> all(const RangeSet& s) {
  std::vector<Range> out;
  for (std::size_t i = 0; i < s.size(); ++i) out.push_back(s[i]);
  return out;
}
// [100 i, 100 i + 10) for i < n.
struct Tens : RangeSet {
  explicit Tens(std::uint32_t n) {
    for (std::uint32_t i = 0; i < n; ++i) EXPECT_TRUE(add(100 * i, 100 * i + 10));
  }
};

TEST(RangeSet, KeepsThemSortedAndApart) {
  RangeSet s;
  s.add(300, 400);
  s.add(100, 200);
  s.add(500, 600);
  EXPECT_EQ(all(s), (std::vector<Range>{{100, 200}, {300, 400}, {500, 600}}));
  s.add(200, 300);
  EXPECT_EQ(all(s), (std::vector<Range>{{100, 400}, {500, 600}})) << "what touches is one";
  s.add(50, 700);
  EXPECT_EQ(all(s), (std::vector<Range>{{50, 700}}));
  s.add(60, 70);
  EXPECT_EQ(all(s), (std::vector<Range>{{50, 700}}));
}

TEST(RangeSet, FindsWhatLiesBehindAPlace) {
  const Tens s(5);
  EXPECT_EQ(s.behind(0), 0u);
  EXPECT_EQ(s.behind(9), 0u);
  EXPECT_EQ(s.behind(10), 1u) << "the end is no part of it";
  EXPECT_EQ(s.behind(250), 3u);
  EXPECT_EQ(s.behind(410), 5u);
  EXPECT_EQ(RangeSet().behind(0), 0u);
}

TEST(RangeSet, SaysWhatOverlaps) {
  const Tens s(5);
  EXPECT_EQ(s.overlap(105, 300), (Range{105, 110}));
  EXPECT_EQ(s.overlap(50, 103), (Range{100, 103}));
  EXPECT_TRUE(s.overlap(110, 200).empty());
  EXPECT_TRUE(s.overlap(900, 1000).empty());
  EXPECT_EQ(s.covered(5, 205), 5u + 10 + 5);
  EXPECT_EQ(s.covered(110, 200), 0u);
  EXPECT_EQ(s.covered(0, 1000), 50u);
}

TEST(RangeSet, Forgets) {
  Tens s(5);
  s.forget_before(105);
  EXPECT_EQ(all(s), (std::vector<Range>{{105, 110}, {200, 210}, {300, 310}, {400, 410}}));
  s.pop_front(2);
  EXPECT_EQ(s[0], (Range{300, 310}));
  s.forget_before(310);
  EXPECT_EQ(all(s), (std::vector<Range>{{400, 410}}));
  s.clear();
  EXPECT_TRUE(s.empty());
}

TEST(RangeSet, RefusesOnlyWhatNeedsAnotherRange) {
  constexpr auto kMost = static_cast<std::uint32_t>(RangeSet::kMost);
  Tens s(kMost);
  EXPECT_FALSE(s.add(50, 60));
  EXPECT_FALSE(s.add(100 * kMost, 100 * kMost + 10));
  EXPECT_EQ(s.size(), kMost);
  EXPECT_TRUE(s.add(110, 120)) << "makes a range longer";
  EXPECT_TRUE(s.add(120, 200)) << "joins two";
  EXPECT_TRUE(s.add(50, 60)) << "and so there is one to spare";
  s.clear();
  EXPECT_TRUE(s.add(1, 2)) << "and room again";
}

TEST(RangeSet, SequenceNumbersWrap) {
  RangeSet s;
  s.add(0xffff'fff0, 0x10);
  s.add(0x20, 0x30);
  s.add(0xffff'ff00, 0xffff'ff10);
  EXPECT_EQ(all(s), (std::vector<Range>{{0xffff'ff00, 0xffff'ff10}, {0xffff'fff0, 0x10}, {0x20, 0x30}}));
  EXPECT_EQ(s.covered(0xffff'ff08, 0x28), 8u + 0x20 + 8);
  s.forget_before(0);
  EXPECT_EQ(s[0], (Range{0, 0x10}));
}

// Ten thousand holes, made and filled in any order.
TEST(RangeSet, ManyInAnyOrder) {
  constexpr std::uint32_t kHoles = 3'000;
  Rng rng(1);
  std::vector<std::uint32_t> order(kHoles);
  std::iota(order.begin(), order.end(), 0u);
  const auto shuffle = [&] {
    for (std::uint32_t i = kHoles - 1; i > 0; --i) std::swap(order[i], order[rng.next() % (i + 1)]);
  };
  RangeSet s;
  shuffle();
  for (const std::uint32_t i : order) ASSERT_TRUE(s.add(10 * i, 10 * i + 5));
  EXPECT_EQ(s.size(), kHoles);
  EXPECT_EQ(s.covered(0, 10 * kHoles), 5 * kHoles);
  shuffle();
  for (const std::uint32_t i : order) ASSERT_TRUE(s.add(10 * i + 5, 10 * i + 10));
  EXPECT_EQ(all(s), (std::vector<Range>{{0, 10 * kHoles}}));
}

// Against a set of bytes, near the wrap.
TEST(RangeSet, RandomRangesAreRightToTheByte) {
  constexpr std::uint32_t kBase = 0xffff'ff00;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Rng rng(seed);
    RangeSet s;
    std::set<std::uint32_t> have;
    std::uint32_t floor = 0;
    for (int step = 0; step < 300; ++step) {
      const std::uint32_t begin = floor + rng.next() % 600, end = begin + 1 + rng.next() % 12;
      const auto count = [&](std::uint32_t from, std::uint32_t to) {
        return std::distance(have.lower_bound(from), have.lower_bound(to));
      };
      ASSERT_EQ(s.covered(kBase + begin, kBase + end), count(begin, end));
      ASSERT_EQ(s.overlap(kBase + begin, kBase + end).empty(), count(begin, end) == 0);
      ASSERT_TRUE(s.add(kBase + begin, kBase + end));
      for (std::uint32_t b = begin; b < end; ++b) have.insert(b);
      if (rng.next() % 20 == 0) {
        floor += rng.next() % 100;
        s.forget_before(kBase + floor);
        have.erase(have.begin(), have.lower_bound(floor));
      }
      ASSERT_EQ(s.covered(kBase + floor, kBase + floor + 2000), have.size());
      for (std::size_t i = 1; i < s.size(); ++i)
        ASSERT_LT(static_cast<std::int32_t>(s[i - 1].end - s[i].begin), 0);
    }
  }
}

}  // namespace
}  // namespace surety::endpoints
