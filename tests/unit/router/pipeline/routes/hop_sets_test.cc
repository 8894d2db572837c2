// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/hop_sets.h"

#include <gtest/gtest.h>

#include "tests/unit/router/pipeline/routes/table_sink.h"

namespace surety {
namespace {

// Interfaces 10 to 19 are ports 0 to 9; `via` without an interface is on the port
// `connected`, if there is one.
class HopSetsTest : public testing::Test {
 protected:
  HopSets::Resolved resolve(const RouteHop& hop) const {
    if (hop.ifindex >= 10 && hop.ifindex < 20)
      return {.member = NextHopMember{static_cast<std::uint8_t>(hop.ifindex - 10), hop.via}};
    if (hop.ifindex == 0 && connected) return {.member = NextHopMember{*connected, hop.via}};
    return {.foreign = hop.ifindex != 0};
  }
  static RouteHop via(const std::string& gateway, int ifindex, std::uint16_t weight = 1) {
    return {.via = address(gateway), .ifindex = ifindex, .weight = weight};
  }
  HopSets::Id hold(std::vector<RouteHop> hops) { return sets.hold({.hops = std::move(hops)}); }
  static NextHopEvent object(std::uint32_t id, const std::string& gateway, int ifindex) {
    return {.id = id, .hop = {.via = address(gateway), .ifindex = ifindex}};
  }
  std::string words(HopSets::Id id) { return sink.words(*sets.target(id)); }

  std::optional<std::uint8_t> connected;
  TableSink sink;
  NextHopGroups groups{sink, kNextHopsFixed + 61, [](const NextHopMember& m) {
                         return NextHopEntry{
                             {},
                             static_cast<std::uint8_t>(m.interface),
                             m.gateway ? NextHopEntry::State::unresolved : NextHopEntry::State::glean};
                       }};
  HopSets sets{groups, [this](const RouteHop& h) { return resolve(h); }};
};

// A route for a TOS, by an object that encapsulates: dropping packets of any TOS has the first reason.
TEST_F(HopSetsTest, TheRoutesOwnReasonPrecedesThatOfItsObject) {
  NextHopEvent encap = object(1, "10.0.0.1", 10);
  encap.unsupported = Unsupported::encapsulation;
  sets.set_object(encap, 0);
  EXPECT_EQ(sets.unsupported(sets.hold({.object = 1})), Unsupported::encapsulation);
  EXPECT_EQ(sets.unsupported(sets.hold({.object = 1, .unsupported = Unsupported::tos})), Unsupported::tos);
}

TEST_F(HopSetsTest, ASetIsKeptOnceAsLongAsItIsHeldOrUsed) {
  const auto a = hold({via("10.0.0.1", 10)}), b = hold({via("10.0.0.1", 10)});
  const auto c = hold({via("10.0.0.1", 11)}), weighted = hold({via("10.0.0.1", 10, 2)});
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  EXPECT_NE(a, weighted);
  EXPECT_EQ(groups.ids_used(), 0U) << "nobody uses them";
  const auto target = sets.use(a);
  EXPECT_EQ(sink.words(*target), "unresolved 0");
  EXPECT_EQ(sets.use(b), target);
  EXPECT_EQ(groups.ids_used(), 1U);
  sets.drop(a);
  sets.drop(b);
  sets.unuse(a);
  EXPECT_EQ(groups.ids_used(), 1U);
  sets.unuse(a);
  EXPECT_EQ(groups.ids_used(), 0U);
  EXPECT_EQ(hold({via("10.9.9.9", 10)}), a) << "its id is free";
}

TEST_F(HopSetsTest, WeightsArePlaces) {
  const auto id = hold({via("10.0.0.1", 10, 1), via("10.0.0.2", 11, 3)});
  EXPECT_EQ(sink.words(*sets.use(id)), "unresolved 0 | unresolved 1 | unresolved 1 | unresolved 1");
}

TEST_F(HopSetsTest, FixedOnesAndThoseThatLeadNowhere) {
  const auto blackhole = sets.hold({.special = kNextHopBlackhole});
  EXPECT_EQ(sets.use(blackhole)->first, kNextHopBlackhole);
  const auto foreign = hold({via("10.0.0.1", 99)});
  EXPECT_EQ(sets.use(foreign)->first, kNextHopForeign);
  const auto nowhere = hold({{.via = address("10.0.0.1")}});
  EXPECT_FALSE(sets.active(nowhere));
  EXPECT_TRUE(sets.active(foreign));
  EXPECT_EQ(groups.ids_used(), 0U);
}

TEST_F(HopSetsTest, AnotherMeaningOfAsManyPlacesChangesUnderTheRoutes) {
  connected = 0;
  const auto id = hold({{.via = address("10.0.0.1")}});
  const auto target = sets.use(id);
  connected = 1;
  EXPECT_FALSE(sets.refresh_all()) << "the routes stay as they are";
  EXPECT_EQ(sets.target(id), target);
  EXPECT_EQ(sink.words(*target), "unresolved 1");
  EXPECT_FALSE(sets.refresh_all());
}

TEST_F(HopSetsTest, WhatBecomesActiveOrNotConcernsTheRoutes) {
  const auto id = hold({{.via = address("10.0.0.1")}});
  connected = 0;
  EXPECT_TRUE(sets.refresh_all());
  EXPECT_TRUE(sets.active(id));
  sets.use(id);
  connected.reset();
  EXPECT_TRUE(sets.refresh_all());
  EXPECT_FALSE(sets.active(id));
  EXPECT_EQ(sets.target(id), std::nullopt);
  EXPECT_EQ(groups.ids_used(), 1U) << "routes may have it in the FIB still";
  sets.release_retired();
  EXPECT_EQ(groups.ids_used(), 0U);
}

TEST_F(HopSetsTest, AnObjectIsFollowed) {
  sets.set_object(object(1, "10.0.0.1", 10), 0);
  const auto id = sets.hold({.object = 1});
  sets.use(id);
  EXPECT_EQ(words(id), "unresolved 0");
  EXPECT_FALSE(sets.set_object(object(1, "10.0.0.2", 11), 0)) << "in place";
  EXPECT_EQ(words(id), "unresolved 1");
  EXPECT_TRUE(sets.set_object({.id = 1, .blackhole = true}, 0));
  EXPECT_EQ(sets.use(id)->first, kNextHopBlackhole);
}

TEST_F(HopSetsTest, AGroupFollowsItsMembersInPlaceWhereSharesStayEqual) {
  sets.set_object(object(1, "10.0.0.1", 10), 0);
  sets.set_object(object(2, "10.0.0.2", 11), 0);
  sets.set_object({.id = 9, .group = {{1, 1}, {2, 1}}}, 0);
  const auto id = sets.hold({.object = 9});
  const auto target = *sets.use(id);
  EXPECT_FALSE(sets.set_object(object(2, "10.0.0.2", 12), 0));
  EXPECT_EQ(sink.words(target), "unresolved 0 | unresolved 2");
  EXPECT_FALSE(sets.remove_object(2)) << "one of two: the other has both places";
  EXPECT_EQ(sink.words(target), "unresolved 0 | unresolved 0");
  sets.set_object(object(3, "10.0.0.3", 13), 0);
  sets.set_object(object(4, "10.0.0.4", 14), 0);
  EXPECT_TRUE(sets.set_object({.id = 9, .group = {{1, 1}, {3, 1}, {4, 1}}}, 0))
      << "more than there are places";
  EXPECT_EQ(words(id), "unresolved 0 | unresolved 3 | unresolved 4");
}

TEST_F(HopSetsTest, ABlockThatOthersHaveAPartInIsNotChangedUnderThem) {
  sets.set_object(object(1, "10.0.0.1", 10), 0);
  const auto id = sets.hold({.object = 1}), same = hold({via("10.0.0.1", 10)});
  EXPECT_EQ(sets.use(id), sets.use(same));
  EXPECT_TRUE(sets.set_object(object(1, "10.0.0.2", 11), 0));
  EXPECT_EQ(words(id), "unresolved 1");
  EXPECT_EQ(words(same), "unresolved 0");
}

TEST_F(HopSetsTest, AnObjectThatGoesLeavesItsRoutesDead) {
  sets.set_object(object(1, "10.0.0.1", 10), 0);
  const auto id = sets.hold({.object = 1});
  sets.use(id);
  EXPECT_TRUE(sets.remove_object(1));
  EXPECT_TRUE(sets.dead(id));
  EXPECT_FALSE(sets.active(id));
  sets.set_object(object(1, "10.0.0.9", 12), 0);
  const auto again = sets.hold({.object = 1});
  EXPECT_NE(again, id);
  EXPECT_FALSE(sets.active(id)) << "the new object is another one's";
  sets.refresh_all();
  EXPECT_FALSE(sets.active(id));
  sets.unuse(id);
  sets.drop(id);
  EXPECT_EQ(sets.hold({.object = 1}), again);
  EXPECT_FALSE(sets.remove_object(77)) << "nobody's";
}

TEST_F(HopSetsTest, WithoutIdsThereIsNoTargetUntilTheyComeFree) {
  std::vector<RouteHop> many;
  for (int i = 0; i < 61; ++i) many.push_back(via("10.1.0." + std::to_string(i), 10));
  const auto wide = hold(std::move(many)), one = hold({via("10.0.0.1", 11)});
  ASSERT_TRUE(sets.use(wide));
  EXPECT_EQ(sets.use(one), std::nullopt);
  sets.unuse(wide);
  EXPECT_TRUE(sets.use(one));
}

}  // namespace
}  // namespace surety
