// SPDX-License-Identifier: BSD-3-Clause
// Routes as the kernel has them: subnets of its addresses, its table `local`, MTUs, order.
#include "router/pipeline/routes/routes.h"
#include "tests/unit/router/pipeline/routes/routes_bed.h"

namespace surety {
namespace {

class KernelSubnets : public RoutesTest {
 protected:
  // The kernel has all addresses of YAML, with their routes.
  void follow() {
    routes.take_subnets_from_kernel(true);
    start();
    routes.begin_kernel_sync();
    own(EventAction::add, 10, "10.0.0.1/24");
    subnet("10.0.0.0/24", 10);
    own(EventAction::add, 11, "10.0.1.1/30");
    subnet("10.0.1.0/30", 11);
    own(EventAction::add, 11, "2001:db8:1::1/64");
    subnet("2001:db8:1::/64", 11, 256);
    routes.end_kernel_sync();
  }
};

TEST_F(KernelSubnets, AreTheAddressesUntilTheKernelHasReportedAll) {
  routes.take_subnets_from_kernel(true);
  start();
  const Lines first = sink.all();
  routes.begin_kernel_sync();
  own(EventAction::add, 10, "10.0.0.1/24");
  EXPECT_EQ(sink.all(), first);
  routes.end_kernel_sync();
  EXPECT_EQ(forward("10.0.0.9"), "none") << "an operator has removed the route";
  EXPECT_EQ(forward("10.0.0.1"), "local");
  EXPECT_EQ(forward("10.0.1.2"), "glean 1") << "the kernel does not have this address";
}

TEST_F(KernelSubnets, GoWithTheKernelsRoute) {
  follow();
  EXPECT_EQ(forward("10.0.0.9"), "glean 0");
  EXPECT_EQ(forward("10.0.0.255"), "blackhole");
  routes.on(RouteEvent{.action = EventAction::remove,
                       .to = prefix("10.0.0.0/24"),
                       .next_hops = {on_link(10)},
                       .protocol = 2,
                       .connected = true});
  EXPECT_EQ(forward("10.0.0.9"), "none");
}

TEST_F(KernelSubnets, AnAddressOfYamlLosesItsOwnWhenWorkIsDone) {
  config.ports[0].addresses.push_back(prefix("172.16.0.1/24"));
  follow();
  EXPECT_EQ(forward("172.16.0.9"), "glean 0");
  own(EventAction::add, 10, "172.16.0.1/24");
  EXPECT_EQ(forward("172.16.0.9"), "glean 0") << "its route is on the way";
  subnet("172.16.0.0/24", 10);
  work();
  EXPECT_EQ(forward("172.16.0.9"), "glean 0");
  own(EventAction::remove, 10, "172.16.0.1/24");
  work();
  EXPECT_EQ(forward("172.16.0.1"), "local") << "YAML has it";
}

// `ip address add 192.0.2.1/24 dev wan0 noprefixroute`
TEST_F(KernelSubnets, AnAddressWithoutOneHasNone) {
  follow();
  neighbor(10, "10.0.0.9", 9);
  route("192.0.2.0/24", {via("10.0.0.9", 10)});
  routes.on(AddressEvent{.ifindex = 11, .address = prefix("192.0.2.1/24"), .no_prefix_route = true});
  EXPECT_EQ(forward("192.0.2.77"), "ready 0 02:00:00:00:00:09");
  EXPECT_EQ(forward("192.0.2.1"), "local");
}

// `ip address add 203.0.113.1/24 dev wan0 metric 500`
TEST_F(KernelSubnets, HaveTheMetricOfTheirAddress) {
  follow();
  own(EventAction::add, 11, "203.0.113.1/24");
  subnet("203.0.113.0/24", 11, 500);
  EXPECT_EQ(forward("203.0.113.77"), "glean 1");
  route("203.0.113.0/24", {via("10.0.0.9", 10)}, 100);
  EXPECT_EQ(forward("203.0.113.77"), "unresolved 0");
}

// `ip address add 192.0.2.1 peer 203.0.113.1/24 dev wan0`
TEST_F(KernelSubnets, AreThePeers) {
  follow();
  route("0.0.0.0/0", {via("10.0.0.9", 10)});
  routes.on(AddressEvent{
      .ifindex = 11, .address = prefix("192.0.2.1/24"), .peer = Prefix{address("203.0.113.1"), 24}});
  subnet("203.0.113.0/24", 11);
  EXPECT_EQ(forward("192.0.2.77"), "unresolved 0");
  EXPECT_EQ(forward("203.0.113.9"), "glean 1");
  EXPECT_EQ(forward("192.0.2.1"), "local");
}

TEST_F(RoutesTest, ThePeersSubnetIsConnectedWithoutTheKernelsRoutes) {
  start();
  routes.on(AddressEvent{
      .ifindex = 11, .address = prefix("192.0.2.1/24"), .peer = Prefix{address("203.0.113.1"), 24}});
  EXPECT_EQ(forward("192.0.2.77"), "none");
  EXPECT_EQ(forward("203.0.113.9"), "glean 1");
}

// The kernel has one address with and without a peer.
TEST_F(KernelSubnets, AnAddressStaysWhenItsPeerGoes) {
  follow();
  AddressEvent peer{
      .ifindex = 11, .address = prefix("192.0.2.1/24"), .peer = Prefix{address("203.0.113.1"), 24}};
  own(EventAction::add, 11, "192.0.2.1/24");
  routes.on(peer);
  peer.action = EventAction::remove;
  routes.on(peer);
  EXPECT_EQ(forward("192.0.2.1"), "local");
  EXPECT_EQ(forward("192.0.2.255"), "blackhole");
}

TEST_F(KernelSubnets, ABroadcastAddressIsNotForwardedTo) {
  follow();
  subnet("172.16.0.0/24", 10);
  routes.on(
      AddressEvent{.ifindex = 10, .address = prefix("172.16.0.1/24"), .broadcast = address("172.16.0.77")});
  EXPECT_EQ(forward("172.16.0.77"), "blackhole");
  EXPECT_EQ(forward("172.16.0.78"), "glean 0");
}

TEST_F(KernelSubnets, AreBeforeARouteOfYamlAndItBeforeOthersOfTheKernel) {
  config.routes = {{prefix("10.0.0.0/24"), {{address("10.0.1.2"), {}}}, false},
                   {prefix("192.0.2.0/24"), {{address("10.0.1.2"), {}}}, false}};
  follow();
  EXPECT_EQ(forward("10.0.0.9"), "glean 0");
  route("192.0.2.0/24", {via("10.0.0.9", 10)});
  EXPECT_EQ(forward("192.0.2.9"), "unresolved 1");
}

// A link without carrier, and `ignore_routes_with_linkdown`: the kernel does not report its subnet again.
TEST_F(KernelSubnets, YieldToAnotherRouteWhenTheyAreDead) {
  follow();
  route("10.0.1.0/30", {via("10.0.0.9", 10)}, 20);
  EXPECT_EQ(forward("10.0.1.2"), "glean 1");
  link(11, false);
  routes.begin_kernel_sync();
  own(EventAction::add, 10, "10.0.0.1/24");
  subnet("10.0.0.0/24", 10);
  own(EventAction::add, 11, "10.0.1.1/30");
  route("10.0.1.0/30", {via("10.0.0.9", 10)}, 20);
  routes.end_kernel_sync();
  EXPECT_EQ(forward("10.0.1.2"), "unresolved 0");
}

// A device that is down loses its IPv6 addresses.
TEST_F(KernelSubnets, AreNotMadeUpWhereTheDeviceIsDown) {
  follow();
  link(11, true);
  route("2001:db8::/32", {via("2001:db8:2::1", 10)});
  EXPECT_EQ(forward("2001:db8:1::9"), "glean 1");
  link(11, false);
  own(EventAction::remove, 11, "2001:db8:1::1/64");
  routes.on(RouteEvent{.action = EventAction::remove,
                       .to = prefix("2001:db8:1::/64"),
                       .next_hops = {on_link(11)},
                       .metric = 256,
                       .protocol = 2,
                       .connected = true});
  work();
  EXPECT_EQ(forward("2001:db8:1::9"), "unresolved 0");
  link(11, true);
  work();
  EXPECT_EQ(forward("2001:db8:1::9"), "glean 1") << "the kernel has refused the address";
}

// `ip -6 route change` makes two routes of one prefix equal; each is removed by itself.
TEST_F(RoutesTest, OneOfTwoEqualRoutesStays) {
  start();
  RouteEvent event{.to = prefix("2001:db8:9::/48"), .next_hops = {RouteNextHop{.ifindex = 10}}};
  routes.on(event);
  event.next_hops[0].ifindex = 11;
  event.order = RouteOrder::last;
  routes.on(event);
  event.order = RouteOrder::replace;
  routes.on(event);
  EXPECT_EQ(forward("2001:db8:9::1"), "glean 1");
  event.action = EventAction::remove;
  routes.on(event);
  EXPECT_EQ(forward("2001:db8:9::1"), "glean 1");
  routes.on(event);
  EXPECT_EQ(forward("2001:db8:9::1"), "none");
}

// `ignore_routes_with_linkdown`: a report of all routes has the dead one, and its removal is that of no
// other.
TEST_F(RoutesTest, ADeadRouteIsRemovedAndNotTheOneBehindIt) {
  start();
  RouteEvent dead{.to = prefix("192.0.2.0/24"),
                  .next_hops = {via("10.0.0.9", 10)},
                  .order = RouteOrder::dumped,
                  .dead = true};
  RouteEvent refused{.to = prefix("192.0.2.0/24"), .blackhole = true, .order = RouteOrder::dumped};
  RouteEvent other = dead;
  other.next_hops = {via("10.0.1.9", 11)};
  routes.begin_kernel_sync();
  for (const RouteEvent& event : {dead, other, refused}) routes.on(event);
  routes.end_kernel_sync();
  EXPECT_EQ(forward("192.0.2.1"), "blackhole");
  for (RouteEvent* event : {&dead, &other}) {
    event->action = EventAction::remove;
    event->dead = false;
    routes.on(*event);
    EXPECT_EQ(forward("192.0.2.1"), "blackhole");
  }
  refused.action = EventAction::remove;
  routes.on(refused);
  EXPECT_EQ(forward("192.0.2.1"), "none");
}

// A removal names dead next hops of a multipath route, too, which are all that a dead route before it has.
TEST_F(RoutesTest, AMultipathRouteIsRemovedAndNotTheDeadOneBeforeIt) {
  start();
  RouteEvent dead{.to = prefix("192.0.2.0/24"),
                  .next_hops = {via("10.0.1.9", 11)},
                  .order = RouteOrder::dumped,
                  .dead = true};
  RouteEvent multipath = dead;
  multipath.next_hops = {via("10.0.0.9", 10)};
  multipath.dead = false;
  routes.begin_kernel_sync();
  for (const RouteEvent& event : {dead, multipath}) routes.on(event);
  routes.end_kernel_sync();
  EXPECT_EQ(forward("192.0.2.1"), "unresolved 0");
  multipath.action = EventAction::remove;
  multipath.next_hops.push_back(via("10.0.1.9", 11));
  routes.on(multipath);
  EXPECT_EQ(forward("192.0.2.1"), "none");
}

// `ip route add local 203.0.113.0/28 dev lo`
TEST_F(RoutesTest, ALocalPrefixIsTheRouters) {
  start();
  route("0.0.0.0/0", {via("10.0.0.9", 10)});
  RouteEvent local{
      .to = prefix("203.0.113.0/28"), .blackhole = true, .refusal = kNextHopLocal, .local_table = true};
  routes.on(local);
  route("203.0.113.7/32", {via("10.0.0.9", 10)});
  EXPECT_EQ(forward("203.0.113.1"), "local");
  EXPECT_EQ(forward("203.0.113.7"), "unresolved 0") << "the kernel has both tables in one trie";
  routes.on(RuleEvent{.preset = true});
  routes.on(RuleEvent{.v6 = true});
  EXPECT_EQ(forward("203.0.113.7"), "unresolved 0");
  routes.on(RuleEvent{.priority = 7});
  EXPECT_EQ(forward("203.0.113.7"), "local");
  EXPECT_EQ(forward("203.0.113.17"), "unresolved 0");
  routes.begin_kernel_sync();
  route("0.0.0.0/0", {via("10.0.0.9", 10)});
  route("203.0.113.7/32", {via("10.0.0.9", 10)});
  routes.end_kernel_sync();
  EXPECT_EQ(forward("203.0.113.7"), "unresolved 0");
}

TEST_F(RoutesTest, ANextHopHasTheMtuOfItsRoute) {
  start();
  RouteEvent small{.to = prefix("192.0.2.0/24"), .next_hops = {via("10.0.0.9", 10)}, .mtu = 1400};
  routes.on(small);
  route("198.51.100.0/24", {via("10.0.0.9", 10)});
  neighbor(10, "10.0.0.9", 9);
  EXPECT_EQ(forward("192.0.2.1"), "ready 0 02:00:00:00:00:09 mtu 1400");
  EXPECT_EQ(forward("198.51.100.1"), "ready 0 02:00:00:00:00:09");
  EXPECT_EQ(sink.table.least_mtu(), 1400);
  small.mtu = 1500;
  routes.on(small);
  EXPECT_EQ(forward("192.0.2.1"), "ready 0 02:00:00:00:00:09") << "the interface's";
}

TEST_F(KernelSubnets, ANeighborHasTheMtuOfItsSubnetsRoute) {
  follow();
  neighbor(10, "10.0.0.9", 9);
  RouteEvent small{.to = prefix("10.0.0.0/24"), .next_hops = {on_link(10)}, .protocol = 2, .mtu = 1400};
  routes.on(small);
  EXPECT_EQ(forward("10.0.0.9"), "ready 0 02:00:00:00:00:09 mtu 1400");
  small.mtu = 0;
  routes.on(small);
  EXPECT_EQ(forward("10.0.0.9"), "ready 0 02:00:00:00:00:09");
}

TEST_F(RoutesTest, ANeighborsOwnRouteEndsWithTheDeviceThatMadeItANeighbor) {
  config.ports[0].addresses.clear();
  config.neighbors = {{address("10.9.0.5"), mac(5), 0}};
  start();
  route("10.9.0.5/32", {on_link(10)});
  EXPECT_EQ(forward("10.9.0.5"), "ready 0 02:00:00:00:00:05");
  routes.bind_port(0, 12);
  EXPECT_EQ(forward("10.9.0.5"), "local") << "the kernel forwards it";
  routes.bind_port(0, 10);
  EXPECT_EQ(forward("10.9.0.5"), "ready 0 02:00:00:00:00:05");
}

TEST_F(RoutesTest, AReportGivesTheOrderOfOneMetric) {
  start();
  RouteEvent a{.to = prefix("192.0.2.0/24"), .next_hops = {via("10.0.0.9", 10)}, .order = RouteOrder::dumped};
  RouteEvent b = a;
  b.next_hops = {via("10.0.1.2", 11)};
  for (const auto& [first, second, words] :
       {std::tuple(&a, &b, "unresolved 0"), std::tuple(&b, &a, "unresolved 1"),
        std::tuple(&a, &b, "unresolved 0")}) {
    routes.begin_kernel_sync();
    routes.on(*first);
    routes.on(*second);
    routes.end_kernel_sync();
    EXPECT_EQ(forward("192.0.2.1"), words);
  }
}

// FRR's vrrpd, with devices that were there before the port's address.
class VirtualRouter : public KernelSubnets {
 protected:
  void macvlan(int above, bool up = true, const MacAddress& mac = {0, 0, 0x5e, 0, 1, 7}) {
    routes.on(LinkEvent{
        .ifindex = 20, .name = "vrrp4", .up = up, .mac = mac, .enabled = true, .macvlan_of = above});
  }
  void subnet_of_macvlan() {
    own(EventAction::add, 20, "10.0.0.3/24");
    routes.on(RouteEvent{.to = prefix("10.0.0.0/24"),
                         .next_hops = {on_link(20)},
                         .protocol = 2,
                         .order = RouteOrder::first,
                         .connected = true});
  }
};

// The host's way to containers on macvlan devices, which frames on the wire do not reach.
TEST_F(VirtualRouter, IsNotEachMacvlanDevice) {
  follow();
  macvlan(10, true, mac(3));
  route("192.0.2.200/32", {on_link(20)});
  work();
  EXPECT_EQ(forward("192.0.2.200"), "local") << "the kernel's";
}

TEST_F(VirtualRouter, IsOnTheLinkOfItsPort) {
  follow();
  macvlan(10);
  subnet_of_macvlan();
  route("192.0.2.0/24", {via("10.0.0.9", 20)});
  work();
  EXPECT_EQ(forward("10.0.0.9"), "glean 0");
  EXPECT_EQ(forward("10.0.0.3"), "local");
  routes.learn(0, address("10.0.0.9"), mac(9));
  EXPECT_EQ(forward("10.0.0.9"), "ready 0 02:00:00:00:00:09");
  EXPECT_EQ(forward("192.0.2.1"), "ready 0 02:00:00:00:00:09");
  const int changes = sink.route_changes;
  macvlan(10, false);
  macvlan(10);
  work();
  EXPECT_EQ(sink.route_changes, changes) << "a backup that becomes the master";
}

TEST_F(VirtualRouter, IsAnotherDeviceUntilTheKernelReportsIt) {
  follow();
  subnet_of_macvlan();
  work();
  EXPECT_EQ(forward("10.0.0.9"), "local") << "the kernel's";
  macvlan(10);
  work();
  EXPECT_EQ(forward("10.0.0.9"), "glean 0");
  macvlan(11);
  work();
  EXPECT_EQ(forward("10.0.0.9"), "glean 1");
  macvlan(99);
  work();
  EXPECT_EQ(forward("10.0.0.9"), "local");
}

}  // namespace
}  // namespace surety
