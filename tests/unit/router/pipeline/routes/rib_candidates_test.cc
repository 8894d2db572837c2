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
