// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/rib.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/router/pipeline/routes/table_sink.h"

namespace surety {
namespace {

using Source = RouteSource;
using Lines = std::vector<std::string>;

// Interfaces 10 to 19 are ports 0 to 9; `via` without either is found while `connected`.
class RibTest : public testing::Test {
 protected:
  static RouteHop on_port(std::uint8_t port) { return {.interface = port}; }
  static RouteHop via(const std::string& gateway, int ifindex) {
    return {.via = address(gateway), .ifindex = ifindex};
  }
  Rib::Resolved resolve(const RouteHop& hop) const {
    if (hop.interface) return {.member = NextHopMember{*hop.interface, hop.via}};
    if (hop.ifindex >= 10 && hop.ifindex < 20)
      return {.member = NextHopMember{static_cast<std::uint8_t>(hop.ifindex - 10), hop.via}};
    if (hop.ifindex == 0 && connected) return {.member = NextHopMember{*connected, hop.via}};
    return {.foreign = hop.ifindex != 0};
  }
  static NextHopEntry entry(const NextHopMember& m) {
    return {{},
            static_cast<std::uint8_t>(m.interface),
            m.gateway ? NextHopEntry::State::unresolved : NextHopEntry::State::glean};
  }
  void set(const std::string& to, Source source, std::vector<RouteHop> hops, std::uint32_t metric = 0,
           std::uint32_t generation = 0) {
    rib.set(prefix(to),
            {.source = source, .metric = metric, .to = {.hops = std::move(hops)}, .generation = generation});
  }

  std::optional<std::uint8_t> connected;
  Lines changed;
  TableSink sink;
  NextHopGroups groups{sink, kNextHopsFixed + 61, entry};
  Rib rib{sink, groups, [this](const RouteHop& h) { return resolve(h); },
          [this](const Prefix& p) { changed.push_back(to_string(p)); }};
};

TEST_F(RibTest, TellsTheLongestPrefixOfAnAddress) {
  set("0.0.0.0/0", Source::yaml, {via("10.9.0.1", 11)});
  set("10.1.0.0/16", Source::yaml, {via("10.9.0.1", 12)});
  set("10.1.2.3/32", Source::yaml, {via("10.9.0.1", 13)});
  EXPECT_EQ(rib.longest(address("10.1.2.3")), prefix("10.1.2.3/32"));
  EXPECT_EQ(rib.longest(address("10.1.2.4")), prefix("10.1.0.0/16"));
  EXPECT_EQ(rib.longest(address("10.2.2.4")), prefix("0.0.0.0/0"));
  EXPECT_EQ(rib.longest(address("2001:db8::1")), std::nullopt);
}

// `ip route append` and `del`, as NetworkManager does it.
TEST_F(RibTest, TheFirstOfOneMetricWinsAndTheOtherAfterIt) {
  const Prefix to = prefix("10.0.0.0/8");
  const auto put = [&](int ifindex, RouteOrder order) {
    rib.set(to, {.to = {.hops = {via("10.9.0.1", ifindex)}}, .order = order});
  };
  put(13, RouteOrder::only);
  put(14, RouteOrder::last);
  EXPECT_EQ(sink.all(), (Lines{"10.0.0.0/8 unresolved 3"}));
  rib.remove(to, {.to = {.hops = {via("10.9.0.1", 14)}}});
  EXPECT_EQ(sink.all(), (Lines{"10.0.0.0/8 unresolved 3"}));
  put(14, RouteOrder::last);
  rib.remove(to, {.to = {.hops = {via("10.9.0.1", 13)}}});
  EXPECT_EQ(sink.all(), (Lines{"10.0.0.0/8 unresolved 4"}));
  put(15, RouteOrder::first);
  EXPECT_EQ(sink.all(), (Lines{"10.0.0.0/8 unresolved 5"}));
  put(16, RouteOrder::replace);
  EXPECT_EQ(sink.all(), (Lines{"10.0.0.0/8 unresolved 6"}));
  rib.remove(to, {.to = {.hops = {via("10.9.0.1", 16)}}});
  EXPECT_EQ(sink.all(), (Lines{"10.0.0.0/8 unresolved 4"}));
  rib.remove(to, {.to = {.hops = {via("10.9.0.9", 17)}}});
  rib.remove(to, {.to = {.hops = {via("10.9.0.1", 14)}}});
  EXPECT_EQ(sink.all(), Lines{});
}

TEST_F(RibTest, RoutesThatDifferInTheirKindOnlyGoOneByOne) {
  const Prefix to = prefix("10.0.0.0/8");
  for (const std::uint16_t kind : std::initializer_list<std::uint16_t>{8, 16})
    rib.set(to, {.to = {.hops = {via("10.9.0.1", 13)}}, .order = RouteOrder::last, .kind = kind});
  rib.set(to, {.to = {.hops = {via("10.9.0.1", 14)}}, .order = RouteOrder::last, .kind = 8});
  rib.remove(to, {.to = {.hops = {via("10.9.0.1", 13)}}, .kind = 16});
  EXPECT_EQ(sink.all(), (Lines{"10.0.0.0/8 unresolved 3"}));
  rib.remove(to, {.to = {.hops = {via("10.9.0.1", 13)}}, .kind = 8});
  EXPECT_EQ(sink.all(), (Lines{"10.0.0.0/8 unresolved 4"}));
}

// `ip -6 route append`: the kernel reports the whole group, and the removal of one next hop.
TEST_F(RibTest, Ipv6NextHopsOfOneMetricAreOneRoute) {
  const Prefix to = prefix("2001:db8::/32");
  const auto put = [&](std::vector<RouteHop> hops) {
    rib.set(to, {.to = {.hops = std::move(hops)}, .order = RouteOrder::last});
  };
  const RouteHop a = via("fe80::1", 11), b = via("fe80::1", 12), device{.ifindex = 13};
  put({a});
  put({device});
  put({a, b});
  EXPECT_EQ(sink.all(), (Lines{"2001:db8::/32 unresolved 1 | unresolved 2"}));
  rib.remove(to, {.to = {.hops = {a}}});
  EXPECT_EQ(sink.all(), (Lines{"2001:db8::/32 unresolved 2"}));
  rib.remove(to, {.to = {.hops = {b}}});
  EXPECT_EQ(sink.all(), (Lines{"2001:db8::/32 glean 3"}));
}

TEST_F(RibTest, APreferenceDecidesAmongEqualMetrics) {
  const Prefix to = prefix("2001:db8::/32");
  for (const std::uint16_t preference : std::initializer_list<std::uint16_t>{2, 0, 1})
    rib.set(to,
            {.to = {.hops = {{.ifindex = 11 + preference}}}, .order = RouteOrder::last, .kind = preference});
  EXPECT_EQ(sink.all(), (Lines{"2001:db8::/32 glean 1"}));
}

// `ip route add local 10.0.0.0/8 dev lo`
TEST_F(RibTest, TheTableLocalHidesLongerPrefixesOfIpv6) {
  set("2001:db8:1::/48", Source::kernel, {via("10.9.0.1", 13)});
  rib.set(prefix("2001:db8::/32"), {.source = Source::local, .to = {.special = kNextHopLocal}});
  EXPECT_EQ(sink.all(), (Lines{"2001:db8::/32 local"}));
  rib.remove(prefix("2001:db8::/32"), {.source = Source::local, .to = {.special = kNextHopLocal}});
  EXPECT_EQ(sink.all(), (Lines{"2001:db8:1::/48 unresolved 3"}));
}

TEST_F(RibTest, TheTableLocalDoesNotHideOwnAddresses) {
  rib.set(prefix("2001:db8::/32"), {.source = Source::local, .to = {.special = kNextHopLocal}});
  rib.set(prefix("2001:db8::1/128"), {.source = Source::connected, .to = {.special = kNextHopLocal}});
  EXPECT_EQ(sink.all(), (Lines{"2001:db8::/32 local", "2001:db8::1/128 local"}));
}

TEST_F(RibTest, TheTableLocalHidesLongerPrefixesOfIpv4IfThereAreRules) {
  set("10.1.0.0/16", Source::kernel, {via("10.9.0.1", 13)});
  set("11.0.0.0/8", Source::kernel, {via("10.9.0.1", 13)});
  rib.set(prefix("10.0.0.0/8"), {.source = Source::local, .to = {.special = kNextHopLocal}});
  set("10.2.0.0/16", Source::yaml, {via("10.9.0.1", 14)});
  EXPECT_EQ(sink.all(), (Lines{"10.0.0.0/8 local", "10.1.0.0/16 unresolved 3", "10.2.0.0/16 unresolved 4",
                               "11.0.0.0/8 unresolved 3"}));
  rib.separate_tables4();
  EXPECT_EQ(sink.all(), (Lines{"10.0.0.0/8 local", "11.0.0.0/8 unresolved 3"}));
  rib.remove(prefix("10.0.0.0/8"), {.source = Source::local, .to = {.special = kNextHopLocal}});
  EXPECT_EQ(sink.all(),
            (Lines{"10.1.0.0/16 unresolved 3", "10.2.0.0/16 unresolved 4", "11.0.0.0/8 unresolved 3"}));
}

TEST_F(RibTest, TheBestSourceThenTheLowestMetricWins) {
  const std::string to = "10.0.0.0/8";
  set(to, Source::kernel, {via("10.9.0.1", 13)}, 20);
  EXPECT_EQ(sink.all(), (Lines{"10.0.0.0/8 unresolved 3"}));
  set(to, Source::kernel, {via("10.9.0.1", 14)}, 10);
  EXPECT_EQ(sink.all(), (Lines{"10.0.0.0/8 unresolved 4"}));
  set(to, Source::yaml, {via("10.9.0.1", 12)});
  set(to, Source::connected, {on_port(1)});
  EXPECT_EQ(sink.all(), (Lines{"10.0.0.0/8 glean 1"}));
  EXPECT_EQ(rib.programmed(), 1U);
  rib.remove(prefix(to), Source::connected, 0);
  EXPECT_EQ(sink.all(), (Lines{"10.0.0.0/8 unresolved 2"}));
  rib.remove(prefix(to), Source::yaml, 0);
  EXPECT_EQ(sink.all(), (Lines{"10.0.0.0/8 unresolved 4"}));
  rib.remove(prefix(to), Source::kernel, 10);
  EXPECT_EQ(sink.all(), (Lines{"10.0.0.0/8 unresolved 3"}));
  rib.remove(prefix(to), Source::kernel, 20);
  rib.remove(prefix(to), Source::kernel, 20);
  EXPECT_EQ(sink.all(), Lines{});
  EXPECT_EQ(rib.programmed(), 0U);
  EXPECT_EQ(groups.ids_used(), 0U);
}

TEST_F(RibTest, NothingIsProgrammedTwice) {
  set("10.0.0.0/8", Source::kernel, {via("10.9.0.1", 10)});
  set("10.0.0.0/8", Source::kernel, {via("10.9.0.1", 10)});
  set("10.0.0.0/8", Source::kernel, {via("10.9.0.2", 10)}, 100);
  rib.program_all();
  EXPECT_EQ(sink.route_changes, 1);
}

TEST_F(RibTest, AReplacementIsOneChange) {
  set("10.0.0.0/8", Source::kernel, {via("10.9.0.1", 10)});
  set("10.0.0.0/8", Source::kernel, {via("10.9.0.1", 11)});
  EXPECT_EQ(sink.route_changes, 2) << "never removed in between";
  EXPECT_EQ(groups.ids_used(), 1U);
}

TEST_F(RibTest, HopsAreSortedOnceEachAndAtMost64) {
  set("10.0.0.0/8", Source::yaml,
      {via("10.9.0.2", 11), via("10.9.0.1", 11), via("10.9.0.2", 11), on_port(0)});
  EXPECT_EQ(sink.all(), (Lines{"10.0.0.0/8 glean 0 | unresolved 1 | unresolved 1"}));
  rib.remove(prefix("10.0.0.0/8"), Source::yaml, 0);
  NextHopGroups many_groups(sink, 1000, entry);
  Rib many(
      sink, many_groups, [this](const RouteHop& h) { return resolve(h); }, [](const Prefix&) {});
  RouteCandidate wide{.source = Source::yaml};
  for (int i = 0; i < 100; ++i) wide.to.hops.push_back(via("10.9.0." + std::to_string(i), 10));
  many.set(prefix("10.0.0.0/8"), wide);
  EXPECT_EQ(sink.routes.at(prefix("10.0.0.0/8")).count, RouteTarget::kMaxCount);
}

TEST_F(RibTest, FixedNextHops) {
  rib.set(prefix("10.0.0.0/8"), {.source = Source::yaml, .to = {.special = kNextHopBlackhole}});
  rib.set(prefix("2001:db8::1/128"), {.source = Source::connected, .to = {.special = kNextHopLocal}});
  EXPECT_EQ(sink.all(), (Lines{"10.0.0.0/8 blackhole", "2001:db8::1/128 local"}));
  EXPECT_EQ(sink.routes.at(prefix("10.0.0.0/8")).first, kNextHopBlackhole);
}

TEST_F(RibTest, OtherInterfacesAreTheKernelsUnlessAPortIsThereToo) {
  set("10.0.0.0/8", Source::kernel, {via("10.9.0.1", 99)});
  EXPECT_EQ(sink.all(), (Lines{"10.0.0.0/8 local"}));
  set("10.0.0.0/8", Source::kernel, {via("10.9.0.1", 99), via("10.8.0.1", 10)});
  EXPECT_EQ(sink.all(), (Lines{"10.0.0.0/8 unresolved 0"}));
}

TEST_F(RibTest, AGatewayOnNoSubnetIsPassedOverUntilThereIsOne) {
  set("10.0.0.0/8", Source::yaml, {{.via = address("10.9.0.1")}});
  EXPECT_EQ(sink.all(), Lines{});
  set("10.0.0.0/8", Source::kernel, {via("10.9.0.1", 10)});
  EXPECT_EQ(sink.all(), (Lines{"10.0.0.0/8 unresolved 0"}));
  connected = 1;
  rib.program_all();
  EXPECT_EQ(sink.all(), (Lines{"10.0.0.0/8 unresolved 1"}));
  connected.reset();
  rib.program_all();
  EXPECT_EQ(sink.all(), (Lines{"10.0.0.0/8 unresolved 0"}));
}

TEST_F(RibTest, HopsGoOneByOne) {
  const auto p = prefix("10.0.0.0/8");
  set("10.0.0.0/8", Source::kernel, {via("10.9.0.1", 10), via("10.9.0.1", 11), via("10.9.0.1", 12)});
  rib.remove_hops(p, Source::kernel, 0, {via("10.9.0.1", 11)});
  EXPECT_EQ(sink.all(), (Lines{"10.0.0.0/8 unresolved 0 | unresolved 2"}));
  rib.remove_hops(p, Source::kernel, 0, {via("10.9.0.1", 10), via("10.9.0.1", 12)});
  EXPECT_EQ(sink.all(), Lines{});
  set("10.0.0.0/8", Source::kernel, {via("10.9.0.1", 10)});
  rib.remove_hops(p, Source::kernel, 0, {via("10.9.0.1", 17)});
  EXPECT_EQ(sink.all(), Lines{}) << "the kernel has removed the route, whatever it was by then";
}

TEST_F(RibTest, StaleCandidatesGo) {
  set("10.0.0.0/8", Source::kernel, {via("10.9.0.1", 10)}, 0, 1);
  set("10.0.0.0/8", Source::kernel, {via("10.9.0.1", 11)}, 5, 2);
  set("10.1.0.0/16", Source::kernel, {via("10.9.0.1", 10)}, 0, 1);
  set("10.2.0.0/16", Source::yaml, {via("10.9.0.1", 10)}, 0, 1);
  rib.remove_stale(Source::kernel, 2);
  EXPECT_EQ(sink.all(), (Lines{"10.0.0.0/8 unresolved 1", "10.2.0.0/16 unresolved 0"}));
}

TEST_F(RibTest, OnLinkIsWhatTheLongestRouteSays) {
  set("10.0.0.0/8", Source::connected, {on_port(1)});
  set("10.1.0.0/16", Source::kernel, {via("10.9.0.1", 12)});
  set("10.1.1.0/24", Source::yaml, {on_port(3)});
  set("10.2.0.7/32", Source::kernel, {on_port(4)});
  set("10.3.0.7/32", Source::neighbor, {via("10.3.0.7", 11)});
  const std::pair<const char*, int> cases[] = {{"10.0.0.1", 1},    {"10.1.0.1", -1}, {"10.1.1.1", 3},
                                               {"10.2.0.7", 4},    {"10.3.0.7", 1},  {"11.0.0.1", -1},
                                               {"2001:db8::1", -1}};
  for (const auto& [a, expected] : cases)
    for (std::uint8_t port = 0; port < 6; ++port)
      EXPECT_EQ(rib.is_on_link(address(a), port), port == expected) << a << " " << int{port};
}

TEST_F(RibTest, TellsWhereHostRoutesMayChange) {
  set("0.0.0.0/0", Source::kernel, {via("10.9.0.1", 10)});
  set("10.1.0.0/16", Source::kernel, {via("10.9.0.1", 10)});
  EXPECT_EQ(changed, Lines{}) << "no subnet is near";
  set("10.1.1.0/24", Source::connected, {on_port(1)});
  EXPECT_EQ(changed, (Lines{"10.1.1.0/24"}));
  set("10.1.1.0/25", Source::kernel, {via("10.9.0.1", 10)});
  EXPECT_EQ(changed.back(), "10.1.1.0/25");
  changed.clear();
  set("0.0.0.0/0", Source::kernel, {via("10.9.0.1", 11)});
  EXPECT_EQ(changed, Lines{});
  set("10.1.1.9/32", Source::neighbor, {via("10.1.1.9", 11)});
  changed.clear();
  set("10.1.1.9/32", Source::kernel, {via("10.9.0.1", 11)});
  EXPECT_EQ(changed, (Lines{"10.1.1.9/32"})) << "although the neighbour's route stands before it";
}

TEST_F(RibTest, ANextHopObjectChangesUnderItsRoutes) {
  rib.set_object({.id = 7, .hop = {.via = address("10.9.0.1"), .ifindex = 10}}, 0);
  rib.set(prefix("10.1.0.0/16"), {.source = Source::kernel, .to = {.object = 7}});
  rib.set(prefix("10.2.0.0/16"), {.source = Source::kernel, .to = {.object = 7}});
  const int before = sink.route_changes;
  rib.set_object({.id = 7, .hop = {.via = address("10.9.0.1"), .ifindex = 12}}, 0);
  EXPECT_EQ(sink.all(), (Lines{"10.1.0.0/16 unresolved 2", "10.2.0.0/16 unresolved 2"}));
  EXPECT_EQ(sink.route_changes, before);
  rib.set_object({.id = 7, .blackhole = true}, 0);
  EXPECT_EQ(sink.all(), (Lines{"10.1.0.0/16 blackhole", "10.2.0.0/16 blackhole"}));
  rib.remove_object(7);
  EXPECT_EQ(sink.all(), Lines{}) << "the kernel has removed its routes without a word";
  rib.set_object({.id = 7, .hop = {.via = address("10.9.0.1"), .ifindex = 13}}, 0);
  EXPECT_EQ(sink.all(), Lines{});
  EXPECT_EQ(groups.ids_used(), 0U);
}

TEST_F(RibTest, ARouteWaitsForItsObject) {
  rib.set(prefix("10.1.0.0/16"), {.source = Source::kernel, .to = {.object = 7}});
  EXPECT_EQ(sink.all(), Lines{});
  rib.set_object({.id = 7, .hop = {.via = address("10.9.0.1"), .ifindex = 10}}, 0);
  EXPECT_EQ(sink.all(), (Lines{"10.1.0.0/16 unresolved 0"}));
}

TEST_F(RibTest, WhatConcernsAllRoutesIsDoneALittleAtATime) {
  for (int i = 0; i < 100; ++i)
    set("10.1." + std::to_string(i) + ".0/24", Source::kernel, {via("10.9.0.1", 10)}, 0, i < 50 ? 1 : 2);
  rib.limit_work(64);  // two changes' worth
  rib.remove_stale(Source::kernel, 2);
  EXPECT_EQ(rib.programmed(), 98U);
  set("10.1.7.0/24", Source::kernel, {via("10.9.0.1", 10)}, 0, 2);  // told again meanwhile: stays
  EXPECT_TRUE(rib.work());
  EXPECT_EQ(rib.programmed(), 96U);
  rib.keep_stale(Source::kernel);  // another synchronisation begins
  while (rib.work()) {
  }
  EXPECT_EQ(rib.programmed(), 96U);
  rib.remove_stale(Source::kernel, 2);
  int rounds = 1;
  while (rib.work()) ++rounds;
  EXPECT_EQ(rib.programmed(), 51U);
  EXPECT_GE(rounds, 45 / 2);
  EXPECT_FALSE(rib.work());
}

TEST_F(RibTest, WithoutRoomARouteWaitsForAnotherToGo) {
  sink.room = 2;
  set("10.1.0.0/16", Source::kernel, {via("10.9.0.1", 10)});
  set("10.2.0.0/16", Source::kernel, {via("10.9.0.1", 10)});
  set("10.3.0.0/16", Source::kernel, {via("10.9.0.3", 10)});
  set("10.4.0.0/16", Source::kernel, {via("10.9.0.4", 10)});
  EXPECT_EQ(rib.programmed(), 2U);
  EXPECT_EQ(rib.rejected(), 2U);
  EXPECT_EQ(groups.ids_used(), 1U) << "next hops of rejected routes are given back";
  rib.remove(prefix("10.4.0.0/16"), Source::kernel, 0);
  EXPECT_EQ(rib.rejected(), 1U);
  rib.remove(prefix("10.1.0.0/16"), Source::kernel, 0);
  EXPECT_EQ(sink.all(), (Lines{"10.2.0.0/16 unresolved 0", "10.3.0.0/16 unresolved 0"}));
  EXPECT_EQ(rib.rejected(), 0U);
}

TEST_F(RibTest, WithoutIdsARouteIsWithdrawnNotLeftWrong) {
  RouteCandidate wide{.source = Source::kernel};
  for (int i = 0; i < 60; ++i) wide.to.hops.push_back(via("10.9.1." + std::to_string(i), 10));
  set("10.1.0.0/16", Source::kernel, {via("10.9.0.1", 10)});
  rib.set(prefix("10.2.0.0/16"), wide);
  set("10.1.0.0/16", Source::kernel, {via("10.9.0.1", 11), via("10.9.0.2", 11)});
  EXPECT_EQ(sink.routes.size(), 1U);
  EXPECT_EQ(rib.rejected(), 1U);
  rib.remove(prefix("10.2.0.0/16"), Source::kernel, 0);
  EXPECT_EQ(sink.all(), (Lines{"10.1.0.0/16 unresolved 1 | unresolved 1"}));
}

// --- stations and routes in one table ---

class FullSinkTest : public RibTest {
 protected:
  // Stations 10.<interface>.0.1 and so on.
  void stations(std::uint8_t interface, int first, int last) {
    for (int i = first; i <= last; ++i)
      set(station(interface, i) + "/32", Source::neighbor,
          {{.via = address(station(interface, i)), .interface = interface}});
  }
  static std::string station(std::uint8_t interface, int i) {
    return "10." + std::to_string(interface) + ".0." + std::to_string(i);
  }
  int there(std::uint8_t interface) const {
    int n = 0;
    for (const auto& [p, target] : sink.routes)
      n += p.length == 32 && prefix("10." + std::to_string(interface) + ".0.0/24").contains(p.address);
    return n;
  }
  void routes(int first, int last) {
    for (int i = first; i <= last; ++i)
      set("20.0." + std::to_string(i) + ".0/24", Source::kernel, {via("10.9.0.1", 10)});
  }
  bool has_route(int i) const { return sink.routes.contains(prefix("20.0." + std::to_string(i) + ".0/24")); }
};

// The finding: the stations of one customer had the room, and a route of the kernel got none.
TEST_F(FullSinkTest, StationsMakeRoomForRoutes) {
  sink.room = 40;
  stations(1, 1, 50);
  EXPECT_EQ(there(1), 40);
  routes(1, 30);
  for (int i = 1; i <= 30; ++i) EXPECT_TRUE(has_route(i)) << i;
  EXPECT_EQ(there(1), 10);
  EXPECT_EQ(rib.rejected(), 40U) << "stations, which the route of their subnet reaches";
}

TEST_F(FullSinkTest, StationsKeepAQuarter) {
  sink.room = 40;
  stations(1, 1, 40);
  routes(1, 60);
  EXPECT_EQ(there(1), 10);
  EXPECT_EQ(rib.programmed(), 40U);
  for (int i = 1; i <= 60; ++i) rib.remove(prefix("20.0." + std::to_string(i) + ".0/24"), Source::kernel, 0);
  EXPECT_EQ(there(1), 40) << "they come back, after the routes";
  EXPECT_EQ(rib.rejected(), 0U);
}

TEST_F(FullSinkTest, AnInterfaceWithManyStationsMakesRoomForOneWithFew) {
  sink.room = 40;
  stations(1, 1, 60);
  stations(2, 1, 5);
  stations(3, 1, 30);
  EXPECT_EQ(there(2), 5);
  EXPECT_LE(std::abs(there(1) - there(3)), 1);
  EXPECT_EQ(there(1) + there(3), 35);
  stations(1, 61, 90);
  EXPECT_EQ(there(2), 5);
}

// Room of another kind: next hops.
TEST_F(FullSinkTest, StationsMakeRoomWhereTheNextHopsAreUsedUp) {
  stations(1, 1, 100);
  EXPECT_EQ(there(1), 61);
  set("20.0.1.0/24", Source::kernel, {via("10.9.0.1", 10)});
  EXPECT_TRUE(has_route(1));
  EXPECT_EQ(there(1), 60);
}

// Where it does not help that stations go, they stay.
TEST_F(FullSinkTest, StationsThatAreNoHelpStay) {
  stations(1, 1, 50);
  sink.refuses = prefix("20.0.0.0/16");
  routes(1, 30);
  EXPECT_EQ(there(1), 50);
  EXPECT_EQ(rib.rejected(), 30U);
}

// Random sets and removals against what must hold at any time.
TEST_F(FullSinkTest, WhateverComesAndGoesRoutesHaveThreeQuarters) {
  std::uint32_t state = 12345;
  const auto random = [&](std::uint32_t n) { return (state = state * 1664525 + 1013904223) / 65536 % n; };
  sink.room = 48;
  std::set<int> wanted;
  for (int step = 0; step < 5000; ++step) {
    const int i = static_cast<int>(1 + random(60));
    const auto interface = static_cast<std::uint8_t>(1 + random(3));
    switch (random(4)) {
      case 0:
        stations(interface, i, i);
        break;
      case 1:
        rib.remove(prefix(station(interface, i) + "/32"), Source::neighbor, 0);
        break;
      case 2:
        routes(i, i);
        wanted.insert(i);
        break;
      default:
        rib.remove(prefix("20.0." + std::to_string(i) + ".0/24"), Source::kernel, 0);
        wanted.erase(i);
    }
    std::size_t have = 0;
    for (int r = 1; r <= 60; ++r) have += has_route(r);
    ASSERT_EQ(rib.programmed(), sink.routes.size());
    ASSERT_LE(sink.routes.size(), sink.room);
    ASSERT_GE(have, std::min<std::size_t>(wanted.size(), 36)) << step;
    ASSERT_TRUE(rib.rejected() == 0 || sink.routes.size() == sink.room) << step;
  }
}

}  // namespace
}  // namespace surety
