// SPDX-License-Identifier: BSD-3-Clause
// Routes of the kernel that the data plane refuses, or that end the search: encapsulation, TOS and source
// prefixes, `throw`, unknown types; and the rules that separate its tables.
#include "router/pipeline/routes/routes.h"
#include "tests/unit/router/pipeline/routes/routes_bed.h"

namespace surety {
namespace {

TEST_F(RoutesTest, AnEncapsulatedRouteIsRefusedAndNothingElseIsUsed) {
  start();
  neighbor(10, "10.0.0.9", 9);
  route("0.0.0.0/0", {via("10.0.0.9", 10)});
  RouteEvent encap{.to = prefix("192.0.2.0/24"),
                   .next_hops = {via("10.0.0.9", 10)},
                   .unsupported = Unsupported::encapsulation};
  routes.on(encap);
  EXPECT_EQ(forward("192.0.2.1"), "unsupported");
  encap.next_hops = {via("10.0.0.9", 99)};
  routes.on(encap);
  EXPECT_EQ(forward("192.0.2.1"), "local") << "the kernel forwards it";
  encap.action = EventAction::remove;
  routes.on(encap);
  EXPECT_EQ(forward("192.0.2.1"), "ready 0 02:00:00:00:00:09");
}

TEST_F(RoutesTest, AnEncapsulatedObjectIsRefused) {
  start();
  routes.on(NextHopEvent{.id = 1, .hop = via("10.0.0.9", 10)});
  routes.on(NextHopEvent{.id = 2, .group = {{1, 1}}});
  routes.on(RouteEvent{.to = prefix("192.0.2.0/24"), .next_hop_id = 2, .mtu = 1400});
  EXPECT_EQ(forward("192.0.2.1"), "unresolved 0");
  routes.on(NextHopEvent{.id = 1, .hop = via("10.0.0.9", 10), .unsupported = Unsupported::encapsulation});
  EXPECT_EQ(forward("192.0.2.1"), "unsupported");
  routes.on(NextHopEvent{.action = EventAction::remove, .id = 2});
  EXPECT_EQ(forward("192.0.2.1"), "none") << "whatever the MTU of the route";
}

// The data plane does not look at the TOS: no packet of the prefix may take the wrong way.
TEST_F(RoutesTest, ARouteForATosRefusesItsPrefix) {
  start();
  route("192.0.2.0/24", {via("10.0.0.9", 10)});
  RouteEvent tos{.to = prefix("192.0.2.0/24"),
                 .next_hops = {via("10.0.1.2", 11)},
                 .metric = 50,
                 .unsupported = Unsupported::tos,
                 .selector = 0x10};
  routes.on(tos);
  EXPECT_EQ(forward("192.0.2.1"), "unsupported");
  tos.next_hops = {via("10.0.1.2", 99)};
  routes.on(tos);
  EXPECT_EQ(forward("192.0.2.1"), "unsupported") << "also through a device that is no port";
  tos.action = EventAction::remove;
  routes.on(tos);
  EXPECT_EQ(forward("192.0.2.1"), "unresolved 0");
}

// `ip -6 route add 2001:db8:a::/48 from 2001:db8:1::/48`: one destination, two source prefixes.
TEST_F(RoutesTest, RoutesForSourcePrefixesGoOneByOne) {
  start();
  const std::string to = "2001:db8:a::1";
  route("2001:db8:a::/48", {via("2001:db8:1::9", 11)}, 1024);
  const auto with = [&](EventAction action, const char* from, const char* gateway, RouteOrder order) {
    routes.on(RouteEvent{.action = action,
                         .to = prefix("2001:db8:a::/48"),
                         .next_hops = {via(gateway, 11)},
                         .metric = 1024,
                         .order = order,
                         .unsupported = Unsupported::source,
                         .selector = 1,
                         .from = prefix(from)});
  };
  const auto add = [&](const char* from, const char* gateway, RouteOrder order = RouteOrder::only) {
    with(EventAction::add, from, gateway, order);
  };
  const auto remove = [&](const char* from, const char* gateway) {
    with(EventAction::remove, from, gateway, RouteOrder::only);
  };
  for (const char* gateway : {"2001:db8:1::2", "2001:db8:1::3"})  // by the same next hop, or by another
    for (const auto& [first, second] :
         {std::pair("2001:db8:1::/48", "2001:db8:2::/48"), std::pair("2001:db8:2::/48", "2001:db8:1::/48")}) {
      add("2001:db8:1::/48", "2001:db8:1::2");
      add("2001:db8:2::/48", gateway);
      EXPECT_EQ(forward(to), "unsupported");
      remove("2001:db8:3::/48", gateway);
      remove(first, first == std::string("2001:db8:2::/48") ? gateway : "2001:db8:1::2");
      EXPECT_EQ(forward(to), "unsupported") << gateway << " " << second;
      remove(second, second == std::string("2001:db8:2::/48") ? gateway : "2001:db8:1::2");
      EXPECT_EQ(forward(to), "unresolved 1") << gateway << " " << second;
    }
  add("2001:db8:1::/48", "2001:db8:1::2");
  add("2001:db8:2::/48", "2001:db8:1::2", RouteOrder::replace);
  add("2001:db8:2::/48", "2001:db8:1::3", RouteOrder::replace);
  remove("2001:db8:2::/48", "2001:db8:1::3");
  EXPECT_EQ(forward(to), "unsupported");
  remove("2001:db8:1::/48", "2001:db8:1::2");
  EXPECT_EQ(forward(to), "unresolved 1");
}

TEST_F(RoutesTest, ARouteForASourcePrefixIsStaleByItself) {
  start();
  const auto report = [&](const char* from) {
    routes.on(RouteEvent{.to = prefix("2001:db8:a::/48"),
                         .next_hops = {via("2001:db8:1::2", 11)},
                         .order = RouteOrder::dumped,
                         .unsupported = Unsupported::source,
                         .selector = 1,
                         .from = prefix(from)});
  };
  for (const bool both : {true, false, false}) {
    routes.begin_kernel_sync();
    report("2001:db8:1::/48");
    if (both) report("2001:db8:2::/48");
    routes.end_kernel_sync();
    EXPECT_EQ(forward("2001:db8:a::1"), "unsupported");
  }
  routes.on(RouteEvent{.action = EventAction::remove,
                       .to = prefix("2001:db8:a::/48"),
                       .unsupported = Unsupported::source,
                       .selector = 1,
                       .from = prefix("2001:db8:1::/48")});
  EXPECT_EQ(forward("2001:db8:a::1"), "none");
}

RouteEvent in_table_local(const char* to, std::uint32_t refusal, std::uint32_t metric = 0) {
  return {.to = prefix(to), .metric = metric, .blackhole = true, .refusal = refusal, .local_table = true};
}

// `ip route add throw 203.0.113.0/24 table local`
TEST_F(RoutesTest, AThrowRouteOfTheTableLocalEndsTheSearchInOneTrie) {
  start();
  route("0.0.0.0/0", {via("10.0.0.9", 10)});
  route("203.0.113.0/24", {via("10.0.1.2", 11)});
  route("203.0.113.64/26", {via("10.0.1.2", 11)});
  RouteEvent thrown = in_table_local("203.0.113.0/24", kNextHopThrown);
  routes.on(thrown);
  EXPECT_EQ(forward("203.0.113.1"), "none");
  EXPECT_EQ(forward("203.0.113.65"), "unresolved 1");
  routes.on(RuleEvent{.priority = 7});
  EXPECT_EQ(forward("203.0.113.1"), "unresolved 1") << "the table main is asked next";
  thrown.action = EventAction::remove;
  routes.on(thrown);
  EXPECT_EQ(forward("203.0.113.1"), "unresolved 1");
}

TEST_F(RoutesTest, AThrowRouteOfASeparateTableLocalMattersInALocalPrefixOnly) {
  start();
  routes.on(RuleEvent{.priority = 7});
  route("0.0.0.0/0", {via("10.0.0.9", 10)});
  RouteEvent thrown = in_table_local("203.0.113.0/28", kNextHopThrown);
  routes.on(thrown);
  EXPECT_EQ(forward("203.0.113.1"), "unresolved 0");
  RouteEvent around = in_table_local("203.0.113.0/24", kNextHopLocalPrefix);
  routes.on(around);
  EXPECT_EQ(forward("203.0.113.1"), "none") << "refused: the kernel forwards by the table main";
  EXPECT_EQ(forward("203.0.113.17"), "local");
  around.action = EventAction::remove;
  routes.on(around);
  EXPECT_EQ(forward("203.0.113.1"), "unresolved 0");
  routes.on(in_table_local("203.0.113.0/28", kNextHopLocalPrefix, 5));
  EXPECT_EQ(forward("203.0.113.1"), "unresolved 0") << "the first of one prefix is used";
  route("203.0.113.8/29", {via("10.0.1.2", 11)});
  EXPECT_EQ(forward("203.0.113.9"), "unresolved 1") << "not hidden either";
  thrown.action = EventAction::remove;
  routes.on(thrown);
  EXPECT_EQ(forward("203.0.113.9"), "local");
}

TEST_F(RoutesTest, AThrowRouteOfTheIpv6TableLocalLeadsOn) {
  start();
  route("2001:db8::/32", {via("2001:db8:1::9", 11)});
  routes.on(in_table_local("2001:db8:a::/48", kNextHopThrown));
  EXPECT_EQ(forward("2001:db8:a::1"), "unresolved 1");
}

// `ip rule del priority 32767`, of the table default: for good, also when it comes back.
TEST_F(RoutesTest, TheRemovalOfARuleSeparatesTheTables) {
  start();
  routes.on(in_table_local("203.0.113.0/28", kNextHopLocalPrefix));
  route("203.0.113.7/32", {via("10.0.0.9", 10)});
  routes.on(RuleEvent{.action = EventAction::remove, .v6 = true, .preset = true});
  EXPECT_EQ(forward("203.0.113.7"), "unresolved 0");
  routes.on(RuleEvent{.action = EventAction::remove, .preset = true});
  EXPECT_EQ(forward("203.0.113.7"), "local");
  routes.on(RuleEvent{.preset = true});
  EXPECT_EQ(forward("203.0.113.7"), "local");
}

// RTN_* of a newer kernel.
TEST_F(RoutesTest, ARouteOfAnUnknownTypeIsRefused) {
  start();
  route("0.0.0.0/0", {via("10.0.0.9", 10)});
  RouteEvent unknown{.to = prefix("192.0.2.0/24"),
                     .blackhole = true,
                     .refusal = kNextHopUnsupported,
                     .unsupported = Unsupported::type};
  routes.on(unknown);
  EXPECT_EQ(forward("192.0.2.1"), "unsupported");
  unknown.action = EventAction::remove;
  routes.on(unknown);
  EXPECT_EQ(forward("192.0.2.1"), "unresolved 0");
}

TEST_F(RoutesTest, AThrowRouteEndsTheSearch) {
  start();
  route("0.0.0.0/0", {via("10.0.0.9", 10)});
  routes.on(RouteEvent{.to = prefix("192.0.2.0/24"), .blackhole = true, .refusal = kNextHopThrown});
  EXPECT_EQ(forward("192.0.2.1"), "none");
  EXPECT_EQ(forward("192.0.3.1"), "unresolved 0");
}

}  // namespace
}  // namespace surety
