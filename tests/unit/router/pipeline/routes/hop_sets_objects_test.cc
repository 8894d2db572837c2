// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/hop_sets.h"

#include <gtest/gtest.h>

#include "tests/unit/router/pipeline/routes/table_sink.h"

namespace surety {
namespace {

using Ids = std::vector<std::uint32_t>;

NextHopEvent hop(std::uint32_t id, const std::string& via) {
  return {.id = id, .hop = {.via = address(via), .ifindex = 10}};
}
NextHopEvent group(std::uint32_t id, std::vector<NextHopEvent::Member> members) {
  return {.id = id, .group = std::move(members)};
}
std::string words(const NextHopObjects::Meaning& m) {
  std::string text = m.blackhole ? "blackhole" : "";
  for (const auto& h : m.hops) text += to_string(*h.via) + "*" + std::to_string(h.weight) + " ";
  return text;
}

TEST(NextHopObjects, AHopAGroupAndABlackhole) {
  NextHopObjects o;
  o.set(hop(1, "10.0.0.1"), 0);
  o.set(hop(2, "10.0.0.2"), 0);
  o.set({.id = 3, .blackhole = true}, 0);
  o.set(group(10, {{1, 1}, {2, 5}}), 0);
  o.set(group(11, {{3, 1}}), 0);
  EXPECT_EQ(words(o.meaning(1)), "10.0.0.1*1 ");
  EXPECT_EQ(words(o.meaning(3)), "blackhole");
  EXPECT_EQ(words(o.meaning(10)), "10.0.0.1*1 10.0.0.2*5 ");
  EXPECT_EQ(words(o.meaning(11)), "blackhole");
  EXPECT_EQ(words(o.meaning(99)), "");
  EXPECT_TRUE(o.knows(10));
  EXPECT_FALSE(o.knows(99));
}

TEST(NextHopObjects, AGroupFollowsItsMembers) {
  NextHopObjects o;
  o.set(group(10, {{1, 1}, {2, 1}}), 0);
  EXPECT_EQ(words(o.meaning(10)), "") << "not known yet";
  o.set(hop(1, "10.0.0.1"), 0);
  o.set(hop(2, "10.0.0.2"), 0);
  o.set(hop(1, "10.0.0.9"), 0);
  EXPECT_EQ(words(o.meaning(10)), "10.0.0.9*1 10.0.0.2*1 ");
  o.remove(2);
  EXPECT_EQ(words(o.meaning(10)), "10.0.0.9*1 ");
}

TEST(NextHopObjects, AGroupInAGroupIsNotFollowed) {
  NextHopObjects o;
  o.set(group(10, {{10, 1}, {11, 1}}), 0);
  o.set(group(11, {{10, 1}}), 0);
  EXPECT_EQ(words(o.meaning(10)), "");
}

TEST(NextHopObjects, SaysWhomAChangeConcerns) {
  NextHopObjects o;
  o.set(group(10, {{1, 1}, {2, 1}}), 0);
  o.set(group(11, {{2, 1}}), 0);
  EXPECT_EQ(o.affected(1), (Ids{1, 10}));
  EXPECT_EQ(o.affected(2), (Ids{2, 10, 11}));
  EXPECT_EQ(o.affected(10), (Ids{10}));
}

TEST(NextHopObjects, StaleAreThoseOfOtherGenerations) {
  NextHopObjects o;
  o.set(hop(1, "10.0.0.1"), 1);
  o.set(hop(2, "10.0.0.2"), 2);
  o.set(hop(3, "10.0.0.3"), 1);
  o.set(hop(3, "10.0.0.3"), 2);
  EXPECT_EQ(o.stale(2), (Ids{1}));
}

}  // namespace
}  // namespace surety
