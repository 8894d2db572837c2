// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/routes.h"

#include "tests/unit/router/pipeline/routes/routes_bed.h"

namespace surety {
namespace {

using Resolution = Routes::Resolution;

TEST_F(RoutesTest, OwnAddressesOfYaml) {
  start();
  EXPECT_EQ(sink.all(), (Lines{"10.0.0.0/24 glean 0", "10.0.0.0/32 blackhole", "10.0.0.1/32 local",
                               "10.0.0.255/32 blackhole", "10.0.1.0/30 glean 1", "10.0.1.0/32 blackhole",
                               "10.0.1.1/32 local", "10.0.1.3/32 blackhole", "2001:db8:1::/64 glean 1",
                               "2001:db8:1::/128 local", "2001:db8:1::1/128 local"}));
  EXPECT_EQ(routes.routes(), 11U);
}

TEST_F(RoutesTest, ANeighbourOnASubnetHasAHostRoute) {
  start();
  neighbor(10, "10.0.0.5", 5);
  neighbor(11, "2001:db8:1::5", 6);
  EXPECT_EQ(forward("10.0.0.5"), "ready 0 02:00:00:00:00:05");
  EXPECT_EQ(forward("10.0.0.6"), "glean 0");
  EXPECT_EQ(forward("2001:db8:1::5"), "ready 1 02:00:00:00:00:06");
  EXPECT_EQ(routes.neighbors(), 2U);
  neighbor(10, "10.0.0.5", 7);  // moved
  EXPECT_EQ(forward("10.0.0.5"), "ready 0 02:00:00:00:00:07");
  no_neighbor(10, "10.0.0.5");
  EXPECT_EQ(forward("10.0.0.5"), "glean 0");
  EXPECT_EQ(routes.routes(), 12U);
  EXPECT_EQ(routes.neighbors(), 1U);
}

TEST_F(RoutesTest, WhatSomebodyHasFixedComesBeforeWhatWasLearnedAndWhatTheKernelFindsOutDoesNotMatter) {
  start();
  const IpAddress station = address("10.0.0.5");
  const auto found_out = [&](std::uint8_t m) {
    routes.on(NeighborEvent{EventAction::add, 10, station, mac(m), false});
  };
  found_out(9);
  EXPECT_EQ(forward("10.0.0.5"), "glean 0");
  routes.learn(0, station, mac(5));
  found_out(9);
  no_neighbor(10, "10.0.0.5");
  EXPECT_EQ(forward("10.0.0.5"), "ready 0 02:00:00:00:00:05");
  EXPECT_FALSE(routes.fixed(10, station));
  neighbor(10, "10.0.0.5", 7);
  EXPECT_TRUE(routes.fixed(10, station));
  routes.learn(0, station, mac(6));
  EXPECT_EQ(forward("10.0.0.5"), "ready 0 02:00:00:00:00:07");
  found_out(9);  // the kernel has it by itself now
  EXPECT_EQ(forward("10.0.0.5"), "ready 0 02:00:00:00:00:06");
  routes.begin_kernel_sync();
  routes.end_kernel_sync();
  EXPECT_EQ(forward("10.0.0.5"), "ready 0 02:00:00:00:00:06");
  routes.learn(0, station, {});
  EXPECT_EQ(forward("10.0.0.5"), "glean 0");
}

TEST_F(RoutesTest, ANeighbourThatBecomesKnownIsReadyWhenItsBatchIsThrough) {
  start();
  neighbor(10, "10.0.0.4", 4);
  routes.gate_neighbors();
  EXPECT_FALSE(routes.collect_arrivals());
  neighbor(10, "10.0.0.5", 5);
  EXPECT_EQ(forward("10.0.0.4"), "ready 0 02:00:00:00:00:04");
  EXPECT_EQ(forward("10.0.0.5"), "waiting 0 02:00:00:00:00:05");
  EXPECT_TRUE(routes.collect_arrivals());
  routes.advance_arrivals();
  neighbor(10, "10.0.0.6", 6);
  EXPECT_EQ(forward("10.0.0.5"), "opening 0 02:00:00:00:00:05");
  routes.advance_arrivals();
  EXPECT_EQ(forward("10.0.0.5"), "ready 0 02:00:00:00:00:05");
  EXPECT_EQ(forward("10.0.0.6"), "waiting 0 02:00:00:00:00:06") << "in the next one";
  neighbor(10, "10.0.0.5", 7);  // moved
  EXPECT_EQ(forward("10.0.0.5"), "ready 0 02:00:00:00:00:07");
  no_neighbor(10, "10.0.0.6");
  EXPECT_EQ(forward("10.0.0.6"), "glean 0");
  EXPECT_FALSE(routes.collect_arrivals());
}

TEST_F(RoutesTest, NobodyWaitsForAGatewayBesideAReadyOne) {
  start();
  route("192.0.2.0/24", {via("10.0.0.4"), via("10.0.0.5")});
  neighbor(10, "10.0.0.4", 4);
  routes.gate_neighbors();
  neighbor(10, "10.0.0.5", 5);
  EXPECT_EQ(forward("192.0.2.1"), "ready 0 02:00:00:00:00:04 | ready 0 02:00:00:00:00:04");
  routes.collect_arrivals();
  routes.advance_arrivals();
  EXPECT_EQ(forward("192.0.2.1"), "ready 0 02:00:00:00:00:04 | ready 0 02:00:00:00:00:04");
  routes.advance_arrivals();
  EXPECT_EQ(forward("192.0.2.1"), "ready 0 02:00:00:00:00:04 | ready 0 02:00:00:00:00:05");
}

// Whose route has gone is in no batch; what waits for it is not to wait for ever.
TEST_F(RoutesTest, ANextHopWithoutRoutesKeepsNobodyWaiting) {
  start();
  routes.gate_neighbors();
  route("192.0.2.7/32", {on_link(10)});
  neighbor(10, "192.0.2.7", 7);
  EXPECT_EQ(forward("192.0.2.7"), "waiting 0 02:00:00:00:00:07");
  const std::uint32_t id = sink.routes.at(prefix("192.0.2.7/32")).first;
  no_route("192.0.2.7/32");
  EXPECT_EQ(forward("192.0.2.7"), "none");
  EXPECT_EQ(describe(sink.table.get(id)), "unresolved 0");
}

TEST_F(RoutesTest, NeighboursElsewhereHaveNone) {
  start();
  neighbor(10, "10.0.1.2", 5);   // on the other port's subnet
  neighbor(10, "192.0.2.7", 5);  // on none
  neighbor(10, "10.0.0.1", 5);   // an own address
  neighbor(11, "fe80::5", 5);    // link-local: a gateway at most
  neighbor(99, "10.0.0.6", 5);   // not a port
  EXPECT_EQ(routes.routes(), 11U);
  EXPECT_EQ(forward("10.0.0.1"), "local");
  EXPECT_EQ(routes.neighbors(), 4U);
}

TEST_F(RoutesTest, ALongerRouteTakesTheHostRoutesInIt) {
  start();
  neighbor(10, "10.0.0.5", 5);
  neighbor(10, "10.0.0.200", 6);
  route("10.0.0.0/25", {via("10.0.1.2", 11)});
  EXPECT_EQ(forward("10.0.0.5"), "unresolved 1");
  EXPECT_EQ(forward("10.0.0.200"), "ready 0 02:00:00:00:00:06");
  no_route("10.0.0.0/25");
  EXPECT_EQ(forward("10.0.0.5"), "ready 0 02:00:00:00:00:05");
  route("10.0.0.5/32", {via("10.0.1.2", 11)});
  EXPECT_EQ(forward("10.0.0.5"), "unresolved 1");
  no_route("10.0.0.5/32");
  EXPECT_EQ(forward("10.0.0.5"), "ready 0 02:00:00:00:00:05");
}

TEST_F(RoutesTest, AnOnLinkHostRouteUsesItsNeighbour) {
  start();
  route("192.0.2.7/32", {on_link(10)});
  EXPECT_EQ(forward("192.0.2.7"), "glean 0");
  neighbor(10, "192.0.2.7", 7);
  EXPECT_EQ(forward("192.0.2.7"), "ready 0 02:00:00:00:00:07");
  no_route("192.0.2.7/32");
  EXPECT_EQ(forward("192.0.2.7"), "none");
  route("192.0.2.0/28", {on_link(10)});
  EXPECT_EQ(forward("192.0.2.7"), "ready 0 02:00:00:00:00:07");
}

TEST_F(RoutesTest, AGatewaysMacReachesEveryRouteWithoutTouchingThem) {
  start();
  route("0.0.0.0/0", {via("10.0.0.9", 10)});
  route("192.0.2.0/24", {via("10.0.0.9", 10)}, 100);
  route("2001:db8:ff::/48", {via("fe80::9", 11)});
  EXPECT_EQ(forward("8.8.8.8"), "unresolved 0");
  EXPECT_EQ(routes.unresolved(),
            (std::vector<Resolution>{{address("10.0.0.9"), 0, 10}, {address("fe80::9"), 1, 11}}));
  EXPECT_EQ(routes.gateway(sink.routes.at(prefix("192.0.2.0/24")).first),
            (Resolution{address("10.0.0.9"), 0, 10}));
  EXPECT_EQ(routes.gateway(sink.routes.at(prefix("10.0.0.0/24")).first), std::nullopt) << "on link";
  const int before = sink.route_changes;
  neighbor(10, "10.0.0.9", 9);
  neighbor(11, "fe80::9", 8);
  EXPECT_EQ(forward("8.8.8.8"), "ready 0 02:00:00:00:00:09");
  EXPECT_EQ(forward("192.0.2.1"), "ready 0 02:00:00:00:00:09");
  EXPECT_EQ(forward("2001:db8:ff::1"), "ready 1 02:00:00:00:00:08");
  EXPECT_EQ(sink.route_changes, before + 1) << "the host route of 10.0.0.9";
  EXPECT_TRUE(routes.unresolved().empty());
  no_neighbor(10, "10.0.0.9");
  EXPECT_EQ(forward("8.8.8.8"), "unresolved 0");
}

TEST_F(RoutesTest, Ipv4ThroughAnIpv6Gateway) {
  start();
  route("192.0.2.0/24", {via("fe80::9", 11)});
  neighbor(11, "fe80::9", 9);
  EXPECT_EQ(forward("192.0.2.1"), "ready 1 02:00:00:00:00:09");
}

TEST_F(RoutesTest, EcmpLeavesOutTheDead) {
  start();
  route("192.0.2.0/24", {via("10.0.1.2", 11), via("10.0.0.9", 10)});
  EXPECT_EQ(forward("192.0.2.1"), "unresolved 0 | unresolved 1");
  neighbor(11, "10.0.1.2", 2);
  EXPECT_EQ(forward("192.0.2.1"), "ready 1 02:00:00:00:00:02 | ready 1 02:00:00:00:00:02");
  neighbor(10, "10.0.0.9", 9);
  EXPECT_EQ(forward("192.0.2.1"), "ready 0 02:00:00:00:00:09 | ready 1 02:00:00:00:00:02");
  link(10, false);
  EXPECT_EQ(forward("192.0.2.1"), "ready 1 02:00:00:00:00:02 | ready 1 02:00:00:00:00:02");
  routes.set_port_up(1, false);
  EXPECT_EQ(forward("192.0.2.1"), "none | none");
  link(10, true);
  EXPECT_EQ(forward("192.0.2.1"), "ready 0 02:00:00:00:00:09 | ready 0 02:00:00:00:00:09");
  no_route("192.0.2.0/24", {via("10.0.0.9", 10)});  // one leg
  EXPECT_EQ(forward("192.0.2.1"), "none");
  routes.set_port_up(1, true);
  EXPECT_EQ(forward("192.0.2.1"), "ready 1 02:00:00:00:00:02");
}

TEST_F(RoutesTest, APortThatIsDownForwardsNothing) {
  start();
  neighbor(10, "10.0.0.5", 5);
  link(10, false);
  EXPECT_EQ(forward("10.0.0.5"), "none");
  EXPECT_EQ(forward("10.0.0.6"), "none");
  EXPECT_EQ(forward("10.0.0.1"), "local");
  link(10, true);
  EXPECT_EQ(forward("10.0.0.5"), "ready 0 02:00:00:00:00:05");
}

TEST_F(RoutesTest, YamlRoutesAndPermanentNeighbours) {
  config.routes = {{prefix("198.51.100.0/24"), {{address("10.0.0.9"), {}}}, false},
                   {prefix("203.0.113.0/24"), {}, true},
                   {prefix("192.0.2.0/24"), {{{}, 1}}, false},
                   {prefix("2001:db8:ff::/48"), {{address("fe80::9"), 1}}, false}};
  config.neighbors = {{address("10.0.0.9"), mac(9), 0}};
  start();
  EXPECT_EQ(forward("198.51.100.1"), "ready 0 02:00:00:00:00:09");
  EXPECT_EQ(forward("203.0.113.1"), "blackhole");
  EXPECT_EQ(forward("192.0.2.1"), "glean 1");
  EXPECT_EQ(forward("2001:db8:ff::1"), "unresolved 1");
  neighbor(10, "10.0.0.9", 1);
  no_neighbor(10, "10.0.0.9");
  EXPECT_EQ(forward("198.51.100.1"), "ready 0 02:00:00:00:00:09") << "permanent";
  route("198.51.100.0/24", {via("10.0.1.2", 11)});
  EXPECT_EQ(forward("198.51.100.1"), "ready 0 02:00:00:00:00:09") << "YAML goes before the kernel";
}

// Floating static routes: the same prefix again with worse metrics.
TEST_F(RoutesTest, OfYamlTheLowestMetricWithAPortThatIsUpIsUsed) {
  using Passed = std::vector<Routes::StaticRoute>;
  const Prefix all = prefix("0.0.0.0/0");
  config.routes = {{all, {}, true, 254},
                   {all, {{address("10.0.1.2"), {}}}, false, 250},
                   {all, {{address("10.0.0.9"), {}}}}};
  start();
  EXPECT_EQ(forward("8.8.8.8"), "unresolved 0");
  EXPECT_EQ(routes.passed_over(), Passed{});
  routes.set_port_up(0, false);
  EXPECT_EQ(forward("8.8.8.8"), "unresolved 1");
  link(11, false);
  EXPECT_EQ(forward("8.8.8.8"), "blackhole");
  routes.set_port_up(0, true);
  EXPECT_EQ(forward("8.8.8.8"), "unresolved 0");
  link(10, false);
  EXPECT_EQ(forward("8.8.8.8"), "blackhole");
  link(11, true);
  EXPECT_EQ(forward("8.8.8.8"), "unresolved 1");
  config.routes[2].metric = 251;
  routes.configure(config);
  link(10, true);
  EXPECT_EQ(forward("8.8.8.8"), "unresolved 1");
  config.routes.pop_back();
  routes.configure(config);
  link(11, false);
  EXPECT_EQ(forward("8.8.8.8"), "blackhole");
  config.routes.erase(config.routes.begin());
  routes.configure(config);
  EXPECT_EQ(forward("8.8.8.8"), "none") << "the only one stays";
  EXPECT_EQ(routes.passed_over(), Passed{});
}

TEST_F(RoutesTest, RoutesOfYamlArePassedOverWhileAnotherIsUp) {
  using Passed = std::vector<Routes::StaticRoute>;
  const Prefix all = prefix("::/0");
  config.routes = {{all, {{address("fe80::9"), 0}}}, {all, {{address("fe80::9"), 1}}, false, 250}};
  start();
  EXPECT_EQ(forward("2001:db8:f::1"), "unresolved 0");
  link(10, false);
  EXPECT_EQ(routes.passed_over(), (Passed{{all, 1}}));
  link(11, false);
  EXPECT_EQ(routes.passed_over(), Passed{}) << "none is better";
  EXPECT_EQ(forward("2001:db8:f::1"), "none");
  link(10, true);
  EXPECT_EQ(routes.passed_over(), (Passed{{all, 250}}));
}

// The kernel asks a route for some packets of its prefix first, whatever its metric.
TEST_F(RoutesTest, ARouteOfYamlWithAMetricYieldsToOneForSomePackets) {
  config.routes = {{prefix("192.0.2.0/24"), {{address("10.0.1.2"), {}}}, false, 50}};
  start();
  RouteEvent tos{.to = prefix("192.0.2.0/24"),
                 .next_hops = {via("10.0.0.9", 10)},
                 .metric = 200,
                 .unsupported = Unsupported::tos,
                 .selector = 0x10};
  routes.on(tos);
  EXPECT_EQ(forward("192.0.2.1"), "unsupported");
  tos.action = EventAction::remove;
  routes.on(tos);
  EXPECT_EQ(forward("192.0.2.1"), "unresolved 1");
}

// As in the kernel, which has them, too.
TEST_F(RoutesTest, ARouteOfYamlWithAMetricYieldsToABetterOneOfTheKernel) {
  config.routes = {{prefix("0.0.0.0/0"), {{address("10.0.1.2"), {}}}, false, 250}};
  start();
  for (const std::uint32_t metric : {0U, 20U, 249U}) {
    route("0.0.0.0/0", {via("10.0.0.7", 10)}, metric);
    EXPECT_EQ(forward("8.8.8.8"), "unresolved 0") << metric;
    no_route("0.0.0.0/0", {via("10.0.0.7", 10)}, metric);
  }
  for (const std::uint32_t metric : {250U, 300U}) {
    route("0.0.0.0/0", {via("10.0.0.7", 10)}, metric);
    EXPECT_EQ(forward("8.8.8.8"), "unresolved 1") << metric;
  }
}

TEST_F(RoutesTest, Ipv4GoesByAGatewayOfIpv6) {
  config.routes = {{prefix("198.51.100.0/24"), {{address("fe80::9"), 1}}},
                   {prefix("203.0.113.0/24"), {{address("2001:db8:1::9"), {}}}}};
  start();
  EXPECT_EQ(forward("198.51.100.1"), "unresolved 1");
  EXPECT_EQ(forward("203.0.113.1"), "unresolved 1");
  neighbor(11, "fe80::9", 9);
  neighbor(11, "2001:db8:1::9", 8);
  EXPECT_EQ(forward("198.51.100.1"), "ready 1 02:00:00:00:00:09");
  EXPECT_EQ(forward("203.0.113.1"), "ready 1 02:00:00:00:00:08");
}

TEST_F(RoutesTest, AReloadProgramsTheDifferenceOnly) {
  config.routes = {{prefix("198.51.100.0/24"), {{address("10.0.0.9"), {}}}, false},
                   {prefix("203.0.113.0/24"), {}, true}};
  config.neighbors = {{address("10.0.0.9"), mac(9), 0}, {address("10.0.0.8"), mac(8), 0}};
  start();
  const Lines first = sink.all();
  const int before = sink.route_changes;
  routes.configure(config);
  EXPECT_EQ(sink.route_changes, before);
  config.routes.pop_back();
  config.neighbors = {{address("10.0.0.9"), mac(7), 0}};
  routes.configure(config);
  EXPECT_EQ(sink.route_changes, before + 2);
  EXPECT_EQ(forward("203.0.113.1"), "none");
  EXPECT_EQ(forward("198.51.100.1"), "ready 0 02:00:00:00:00:07");
  EXPECT_EQ(forward("10.0.0.8"), "glean 0");
  config.ports[0].addresses.clear();
  routes.configure(config);
  EXPECT_EQ(forward("198.51.100.1"), "none") << "its gateway is on no subnet now";
}

TEST_F(RoutesTest, AYamlGatewayWaitsForItsSubnet) {
  config.routes = {{prefix("198.51.100.0/24"), {{address("172.16.0.9"), {}}}, false}};
  start();
  EXPECT_EQ(forward("198.51.100.1"), "none");
  route("198.51.100.0/24", {via("10.0.1.2", 11)});
  EXPECT_EQ(forward("198.51.100.1"), "unresolved 1") << "the kernel's instead";
  own(EventAction::add, 10, "172.16.0.1/16");
  EXPECT_EQ(forward("198.51.100.1"), "unresolved 0");
  own(EventAction::add, 11, "172.16.0.2/24");
  EXPECT_EQ(forward("198.51.100.1"), "unresolved 1") << "a longer subnet";
  own(EventAction::remove, 11, "172.16.0.2/24");
  own(EventAction::remove, 10, "172.16.0.1/16");
  no_route("198.51.100.0/24");
  EXPECT_EQ(forward("198.51.100.1"), "none");
}

TEST_F(RoutesTest, AddressesOfTheKernel) {
  start();
  const Lines first = sink.all();
  own(EventAction::add, 10, "10.0.0.1/24");  // YAML's, given to the kernel by us
  EXPECT_EQ(sink.all(), first);
  own(EventAction::add, 10, "10.0.0.2/24");
  EXPECT_EQ(forward("10.0.0.2"), "local");
  own(EventAction::add, 99, "192.0.2.1/24");
  EXPECT_EQ(forward("192.0.2.1"), "local");
  EXPECT_EQ(forward("192.0.2.2"), "none");
  own(EventAction::remove, 99, "192.0.2.1/24");
  own(EventAction::remove, 10, "10.0.0.2/24");
  own(EventAction::remove, 10, "10.0.0.1/24");
  EXPECT_EQ(sink.all(), first);
}

TEST_F(RoutesTest, TheKernelsOwnRoutesOfSubnets) {
  start();
  const Lines first = sink.all();
  routes.on(RouteEvent{EventAction::add, prefix("10.0.0.0/24"), {on_link(10)}, 0, 2, false});
  EXPECT_EQ(sink.all(), first);
  routes.on(RouteEvent{EventAction::add, prefix("192.168.0.0/16"), {on_link(99)}, 0, 2, false});
  EXPECT_EQ(forward("192.168.0.1"), "local") << "the kernel forwards there";
  routes.on(RouteEvent{EventAction::add, prefix("0.0.0.0/0"), {}, 4096, 3, true});
  EXPECT_EQ(forward("8.8.8.8"), "blackhole");
}

TEST_F(RoutesTest, MulticastAndLinkLocalPrefixesNeverComeToTheFib) {
  start();
  route("fe80::/64", {on_link(10)});
  route("ff00::/8", {on_link(10)});
  route("224.0.0.0/4", {on_link(10)});
  EXPECT_EQ(routes.routes(), 11U);
}

}  // namespace
}  // namespace surety
