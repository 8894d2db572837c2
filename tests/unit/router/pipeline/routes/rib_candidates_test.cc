// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/rib.h"

#include <gtest/gtest.h>

#include <string>

namespace surety {
namespace {

using Source = RouteSource;

std::string sets(const RouteCandidates& c) {
  std::string text;
  for (const auto& one : c.all()) text += std::to_string(one.set) + " ";
  return text;
}

TEST(RouteCandidates, BestFirst) {
  RouteCandidates c;
  EXPECT_EQ(sets(c), "");
  c.set({1, 20, 0, Source::kernel});
  EXPECT_EQ(sets(c), "1 ");
  c.set({2, 10, 0, Source::kernel});
  c.set({3, 0, 0, Source::neighbor});
  c.set({4, 99, 0, Source::connected});
  c.set({5, 0, 0, Source::yaml});
  EXPECT_EQ(sets(c), "3 4 5 2 1 ");
}

TEST(RouteCandidates, OneOfEachSourceAndMetric) {
  RouteCandidates c;
  c.set({1, 20, 0, Source::kernel});
  c.set({2, 20, 0, Source::kernel});
  EXPECT_EQ(sets(c), "2 ");
  c.set({3, 20, 0, Source::yaml});
  c.set({4, 20, 7, Source::kernel});
  EXPECT_EQ(sets(c), "3 4 ");
  EXPECT_EQ(c.find(Source::kernel, 20)->generation, 7U);
  EXPECT_EQ(c.find(Source::kernel, 21), nullptr);
  EXPECT_EQ(c.find(Source::connected, 20), nullptr);
}

using Candidate = RouteCandidates::Candidate;
using Likeness = RouteCandidates::Likeness;

// Routes of the kernel with one metric, as `ip route append`, `prepend` and `replace` put them.
struct Group {
  RouteCandidates candidates;
  void put(HopSets::Id set, RouteOrder order, std::uint32_t generation = 0) {
    candidates.set({set, 20, generation, Source::kernel}, order,
                   [set](const auto& c) { return c.set == set ? Likeness::same : Likeness::similar; });
  }
};

TEST(RouteCandidates, OneMetricKeepsTheOrderOfItsSource) {
  Group g;
  g.candidates.set({9, 30, 0, Source::kernel});
  g.put(1, RouteOrder::only);
  g.put(2, RouteOrder::last);
  g.put(3, RouteOrder::first);
  EXPECT_EQ(sets(g.candidates), "3 1 2 9 ");
  g.put(4, RouteOrder::replace);
  EXPECT_EQ(sets(g.candidates), "4 1 2 9 ");
  g.put(2, RouteOrder::first);
  EXPECT_EQ(sets(g.candidates), "4 1 2 9 ") << "reported twice";
  g.put(5, RouteOrder::only);
  EXPECT_EQ(sets(g.candidates), "5 9 ");
}

// `ip -6 route change`: the kernel replaces the first route, whatever is behind it.
TEST(RouteCandidates, AReplacementMayBeEqualToALaterOne) {
  Group g;
  for (HopSets::Id i = 1; i <= 3; ++i) g.put(i, RouteOrder::last);
  g.put(2, RouteOrder::replace);
  EXPECT_EQ(sets(g.candidates), "2 2 3 ");
  for (const HopSets::Id i : {2U, 2U, 3U}) g.put(i, RouteOrder::dumped, 1);
  EXPECT_EQ(sets(g.candidates), "2 2 3 ");
  for (const auto& c : g.candidates.all()) EXPECT_EQ(c.generation, 1U);
}

TEST(RouteCandidates, AReportSetsTheOrder) {
  Group g;
  for (HopSets::Id i = 1; i <= 3; ++i) g.put(i, RouteOrder::last);
  for (const HopSets::Id i : {3U, 4U, 1U}) g.put(i, RouteOrder::dumped, 1);
  EXPECT_EQ(sets(g.candidates), "3 4 1 2 ") << "the last one is not reported yet, or gone";
  g.put(5, RouteOrder::first, 1);
  EXPECT_EQ(sets(g.candidates), "5 3 4 1 2 ");
}

TEST(RouteCandidates, AReplacementTakesThePlaceOfTheLikest) {
  RouteCandidates c;
  const auto put = [&](HopSets::Id set, RouteOrder order, HopSets::Id like) {
    const auto gone = c.set({set, 20, 0, Source::kernel}, order, [like](const auto& known) {
                         return known.set == like ? Likeness::similar : Likeness::other;
                       }).gone;
    return gone.empty() ? 0 : gone.front().set;
  };
  put(1, RouteOrder::only, 0);
  put(2, RouteOrder::last, 0);
  EXPECT_EQ(put(3, RouteOrder::replace, 2), 2U);
  EXPECT_EQ(sets(c), "1 3 ");
  EXPECT_EQ(put(4, RouteOrder::replace, 0), 1U) << "the first, if none is like it";
}

// `ip -6 route add 2001:db8::/32 from SOURCE`: routes of one prefix and metric, for other packets.
TEST(RouteCandidates, RoutesThatAreApartDoNotReplaceEachOther) {
  RouteCandidates c;
  const auto put = [&](HopSets::Id set, RouteOrder order, HopSets::Id like = 0) {
    c.set({set, 20, 0, Source::kernel, 1}, order,
          [like](const auto& known) { return known.set == like ? Likeness::similar : Likeness::apart; });
  };
  put(1, RouteOrder::only);
  put(2, RouteOrder::only);
  put(3, RouteOrder::replace);
  put(4, RouteOrder::dumped);
  EXPECT_EQ(sets(c), "1 2 3 4 ");
  put(5, RouteOrder::only, 2);
  EXPECT_EQ(sets(c), "1 3 4 5 ");
  put(6, RouteOrder::replace, 3);
  EXPECT_EQ(sets(c), "1 6 4 5 ");
}

TEST(RouteCandidates, ASelectorComesBeforeTheMetric) {
  RouteCandidates c;
  c.set({1, 0, 0, Source::kernel, 0});
  c.set({2, 99, 0, Source::kernel, 0x10});
  c.set({3, 0, 0, Source::local, 0});
  EXPECT_EQ(sets(c), "3 2 1 ");
}

TEST(RouteCandidates, TakenAwayAreHandedBack) {
  RouteCandidates c;
  for (HopSets::Id i = 1; i <= 4; ++i) c.set({i, i, 0, Source::kernel});
  const auto taken = c.take_if([](const auto& one) { return one.set % 2 == 0; });
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(taken[1].set, 4U);
  EXPECT_EQ(sets(c), "1 3 ");
  EXPECT_TRUE(c.take_if([](const auto& one) { return one.set == 9; }).empty());
  c.take_if([](const auto& one) { return one.set == 1; });
  EXPECT_EQ(sets(c), "3 ");
  c.take_if([](const auto&) { return true; });
  EXPECT_EQ(sets(c), "");
  EXPECT_EQ(c.find(Source::kernel, 3), nullptr);
}

}  // namespace
}  // namespace surety
