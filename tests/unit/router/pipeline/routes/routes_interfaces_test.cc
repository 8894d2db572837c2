// SPDX-License-Identifier: BSD-3-Clause
// Routes by interfaces with tags, and by templates, whose stations are each behind one of many tags.
#include <gtest/gtest.h>

#include "router/pipeline/routes/routes.h"
#include "tests/unit/router/pipeline/routes/table_sink.h"

namespace surety {
namespace {

// Port 0 has "acme" with 10.7.0.1/24, and "homes" with 10.8.0.1/24 behind 200.1 to 200.9; port 1 nothing.
struct RoutesByInterface : testing::Test {
  static config::Interface interface(const std::string& name, std::uint16_t vlan,
                                     const std::string& address) {
    config::Interface i;
    i.name = name;
    i.vlan = vlan;
    i.addresses = {prefix(address)};
    return i;
  }
  RoutesByInterface() {
    config.ports.resize(2);
    config.ports[0].name = "a", config.ports[1].name = "b";
    config.interfaces = {interface("acme", 107, "10.7.0.1/24"), interface("homes", 200, "10.8.0.1/24")};
    config.interfaces[1].first_inner = 1;
    config.interfaces[1].last_inner = 9;
    configure();
    routes.bind(std::vector<Routes::Binding>{{0, 10}, {1, 11}, {acme, 20}, {homes, 21}});
  }
  void configure() {
    interfaces = std::make_shared<const Interfaces>(config, interfaces.get());
    routes.configure(config, interfaces);
  }
  std::string forward(const std::string& a) const { return sink.forward(address(a)); }

  static constexpr InterfaceIndex acme = 2, homes = 3, home1 = 4, home2 = 5;
  config::Config config;
  std::shared_ptr<const Interfaces> interfaces;
  TableSink sink;
  Routes routes{sink, 4096};
};

TEST_F(RoutesByInterface, SubnetsLeadToThem) {
  EXPECT_EQ(interfaces->name(home2), "homes.2");
  EXPECT_EQ(forward("10.7.0.1"), "local");
  EXPECT_EQ(forward("10.7.0.9"), "glean 0/2");
  EXPECT_EQ(forward("10.8.0.9"), "glean 0/3");
}

TEST_F(RoutesByInterface, AStationIsReachedByItsTags) {
  routes.learn(acme, address("10.7.0.9"), mac(9));
  routes.learn(home2, address("10.8.0.9"), mac(8));
  EXPECT_EQ(forward("10.7.0.9"), "ready 0/2 02:00:00:00:00:09");
  EXPECT_EQ(forward("10.8.0.9"), "ready 0/5 02:00:00:00:00:08");
  EXPECT_EQ(forward("10.8.0.10"), "glean 0/3");
  routes.learn(home2, address("10.8.0.9"), {});
  EXPECT_EQ(forward("10.8.0.9"), "glean 0/3");
  routes.learn(home1, address("10.8.0.9"), mac(7));
  EXPECT_EQ(forward("10.8.0.9"), "ready 0/4 02:00:00:00:00:07") << "behind another tag now";
}

TEST_F(RoutesByInterface, AGatewayBehindATemplateIsBehindOneOfItsTags) {
  routes.on(
      RouteEvent{EventAction::add, prefix("198.51.100.0/24"), {{address("10.8.0.9"), 21}}, 0, 186, false});
  EXPECT_EQ(forward("198.51.100.1"), "unresolved 0/3");
  routes.learn(home2, address("10.8.0.9"), mac(8));
  EXPECT_EQ(forward("198.51.100.1"), "ready 0/5 02:00:00:00:00:08");
  routes.learn(home2, address("10.8.0.9"), {});
  EXPECT_EQ(forward("198.51.100.1"), "unresolved 0/3");
}

TEST_F(RoutesByInterface, NobodySaysWhichTagByTheKernel) {
  routes.on(NeighborEvent{EventAction::add, 21, address("10.8.0.9"), mac(8), true, true});
  EXPECT_EQ(forward("10.8.0.9"), "glean 0/3");
}

TEST_F(RoutesByInterface, AreDownWithTheirPortOrTheirDevice) {
  routes.learn(acme, address("10.7.0.9"), mac(9));
  routes.on(LinkEvent{20, "acme", false, 1500, {}});
  EXPECT_EQ(forward("10.7.0.9"), "none");
  routes.on(LinkEvent{20, "acme", true, 1500, {}});
  EXPECT_EQ(forward("10.7.0.9"), "ready 0/2 02:00:00:00:00:09");
  routes.on(LinkEvent{10, "lan0", false, 1500, {}});
  EXPECT_EQ(forward("10.7.0.9"), "none");
  EXPECT_EQ(forward("10.8.0.9"), "none");
  routes.on(LinkEvent{10, "lan0", true, 1500, {}});
  EXPECT_EQ(forward("10.7.0.9"), "ready 0/2 02:00:00:00:00:09");
}

TEST_F(RoutesByInterface, WhatIsGoneIsForgottenAndOthersStay) {
  routes.learn(acme, address("10.7.0.9"), mac(9));
  routes.learn(home1, address("10.8.0.9"), mac(8));
  config.interfaces.erase(config.interfaces.begin() + 1);
  configure();
  EXPECT_EQ(forward("10.8.0.9"), "none");
  EXPECT_EQ(forward("10.8.0.1"), "none");
  EXPECT_EQ(forward("10.7.0.9"), "ready 0/2 02:00:00:00:00:09");
  config.interfaces.push_back(interface("other", 5, "10.8.0.1/24"));
  configure();
  EXPECT_EQ(forward("10.8.0.9"), "glean 0/" + std::to_string(interfaces->of_definition(1)))
      << "nothing is known of who was there before";
}

TEST_F(RoutesByInterface, AHostKnownByItsAddressHasQueuesOfItsOwnOnTheLink) {
  config::Interface hosts;
  hosts.name = "globex";
  hosts.within = 0;
  hosts.vlan = 107;
  hosts.prefixes = {prefix("10.7.0.8/31"), prefix("198.51.100.0/24"), prefix("2001:db8::8/128")};
  config.interfaces.push_back(hosts);
  routes.on(
      RouteEvent{EventAction::add, prefix("198.51.100.0/24"), {{address("10.7.0.9"), 20}}, 0, 186, false});
  routes.learn(acme, address("10.7.0.9"), mac(9));
  routes.learn(acme, address("10.7.0.10"), mac(10));
  routes.learn(homes + 2, address("10.8.0.9"), mac(8));
  EXPECT_EQ(forward("10.7.0.9"), "ready 0/2 02:00:00:00:00:09");
  configure();
  const std::string way = "ready 0/" + std::to_string(interfaces->of_definition(2));
  EXPECT_EQ(forward("10.7.0.9"), way + " 02:00:00:00:00:09");
  EXPECT_EQ(forward("198.51.100.1"), way + " 02:00:00:00:00:09") << "behind it";
  EXPECT_EQ(forward("10.7.0.10"), "ready 0/2 02:00:00:00:00:0a") << "a neighbor";
  EXPECT_EQ(forward("10.7.0.8"), "glean 0/2") << "not resolved: by the link";
  EXPECT_EQ(forward("10.8.0.9"), "ready 0/5 02:00:00:00:00:08");
  routes.learn(acme, address("10.7.0.9"), {});
  EXPECT_EQ(forward("10.7.0.9"), "glean 0/2");
  config.interfaces[2].prefixes = {prefix("10.7.0.10/32"), prefix("10.8.0.9/32")};
  configure();
  EXPECT_EQ(forward("10.7.0.10"), way + " 02:00:00:00:00:0a");
  EXPECT_EQ(forward("10.8.0.9"), "ready 0/5 02:00:00:00:00:08") << "on another link";
}

// "globex" has 198.51.100.0/24 and 2001:db8:9::/48, "hooli" 203.0.113.7, on the link of "acme".
struct RoutesToHosts : RoutesByInterface {
  RoutesToHosts() {
    config::Interface hosts;
    hosts.name = "globex", hosts.vlan = 107, hosts.within = 0;
    hosts.prefixes = {prefix("198.51.100.0/24"), prefix("2001:db8:9::/48")};
    config.interfaces.push_back(hosts);
    hosts.name = "hooli", hosts.prefixes = {prefix("203.0.113.7/32")};
    config.interfaces.push_back(hosts);
    configure();
    globex = std::to_string(interfaces->of_definition(2));
    hooli = std::to_string(interfaces->of_definition(3));
    routes.learn(acme, gateway, mac(9));
  }
  void route(const std::string& to, const IpAddress& via, EventAction action = EventAction::add,
             int device = 20) {
    routes.on(RouteEvent{action, prefix(to), {{via, device}}, 0, 186, false});
  }
  std::string ready(const std::string& place, std::uint8_t last) const {
    return "ready 0/" + place + " " + to_string(mac(last));
  }
  const IpAddress gateway = address("10.7.0.9"), other = address("10.7.0.10");
  std::string globex, hooli;
};

TEST_F(RoutesToHosts, HaveTheirQueuesWhateverTheGateway) {
  route("0.0.0.0/0", gateway);
  EXPECT_EQ(forward("198.51.100.1"), ready(globex, 9)) << "by the default route";
  EXPECT_EQ(forward("203.0.113.7"), ready(hooli, 9));
  EXPECT_EQ(forward("203.0.113.8"), ready("2", 9)) << "no subscriber";
  route("203.0.113.0/24", other);
  EXPECT_EQ(forward("203.0.113.7"), "unresolved 0/2");
  EXPECT_EQ(routes.unresolved().size(), 1U) << "once, though its route and the subscriber's use it";
  routes.learn(acme, other, mac(10));
  EXPECT_EQ(forward("203.0.113.7"), ready(hooli, 10)) << "by a longer route";
  route("198.51.100.128/25", other);
  EXPECT_EQ(forward("198.51.100.1"), ready(globex, 9));
  EXPECT_EQ(forward("198.51.100.129"), ready(globex, 10)) << "a route within the subscriber's prefix";
  route("203.0.113.7/32", gateway);
  EXPECT_EQ(forward("203.0.113.7"), ready(hooli, 9)) << "a route of that prefix";
  route("203.0.113.7/32", gateway, EventAction::remove);
  EXPECT_EQ(forward("203.0.113.7"), ready(hooli, 10));
  route("203.0.113.0/24", other, EventAction::remove);
  route("0.0.0.0/0", gateway, EventAction::remove);
  EXPECT_EQ(forward("203.0.113.7"), "none");
  EXPECT_EQ(forward("198.51.100.129"), ready(globex, 10));
}

TEST_F(RoutesToHosts, HaveThemByLinkLocalGatewaysOfIPv6) {
  const IpAddress local = address("fe80::9");
  routes.learn(acme, local, mac(11));
  route("::/0", local);
  EXPECT_EQ(forward("2001:db8:9::1"), ready(globex, 11));
  EXPECT_EQ(forward("2001:db8:8::1"), ready("2", 11));
}

TEST_F(RoutesToHosts, HaveThoseOfTheLinkThatTheyLeaveBy) {
  routes.on(NeighborEvent{EventAction::add, 11, address("192.0.2.1"), mac(1), true, true});
  route("0.0.0.0/0", address("192.0.2.1"), EventAction::add, 11);
  EXPECT_EQ(forward("198.51.100.1"), "ready 1 " + to_string(mac(1))) << "on another port";
  routes.on(RouteEvent{EventAction::add, prefix("0.0.0.0/0"), {}, 0, 186, true});
  EXPECT_EQ(forward("198.51.100.1"), "blackhole");
}

TEST_F(RoutesToHosts, FollowAReload) {
  route("0.0.0.0/0", gateway);
  route("198.51.100.128/25", gateway);
  config.interfaces[2].prefixes = {prefix("203.0.113.0/29")};
  config.interfaces.pop_back();
  configure();
  EXPECT_EQ(forward("203.0.113.7"), ready(globex, 9)) << "it was of another subscriber";
  for (const char* const left : {"198.51.100.1", "198.51.100.129"}) EXPECT_EQ(forward(left), ready("2", 9));
  routes.learn(acme, other, mac(10));
  route("0.0.0.0/0", other);
  EXPECT_EQ(forward("203.0.113.7"), ready(globex, 10)) << "nothing is left of the other one's route";
  EXPECT_EQ(routes.routes(), sink.routes.size());
}

// Else a customer with many addresses could be rid of his shaper, or another one's.
TEST_F(RoutesToHosts, HaveRoomBeforeNeighborsThatFillTheTable) {
  config.interfaces.pop_back();
  configure();
  route("0.0.0.0/0", gateway);
  for (std::uint8_t n = 20; n < 60; ++n) routes.learn(acme, address("10.7.0." + std::to_string(n)), mac(n));
  sink.room = sink.routes.size();
  config::Interface late = config.interfaces[2];
  late.name = "late", late.prefixes = {prefix("203.0.113.64/26")};
  config.interfaces.push_back(late);
  configure();
  EXPECT_EQ(forward("203.0.113.65"), ready(std::to_string(interfaces->of_definition(3)), 9));
}

TEST_F(RoutesToHosts, KeepTheirRouteWithoutRoom) {
  route("0.0.0.0/0", gateway);
  sink.refuses = prefix("203.0.113.0/24");
  route("0.0.0.0/0", other);
  routes.learn(acme, other, mac(10));
  EXPECT_EQ(forward("198.51.100.1"), ready(globex, 10));
  EXPECT_EQ(forward("203.0.113.7"), ready("2", 10)) << "by the route around it";
  EXPECT_EQ(forward("10.7.0.9"), ready("2", 9)) << "a neighbor whose withdrawal does not help is back";
}

TEST_F(RoutesByInterface, OneThatIsKnownByItsAddressesFromNowOnHasNoSubnet) {
  config.interfaces[0].addresses.clear();
  config.interfaces[0].vlan = 0;
  config.interfaces[0].prefixes = {prefix("10.7.0.0/24")};
  configure();
  EXPECT_EQ(forward("10.7.0.1"), "none");
  EXPECT_EQ(forward("10.7.0.9"), "none");
  config.ports[0].addresses = {prefix("10.7.0.1/24")};
  configure();
  routes.learn(0, address("10.7.0.9"), mac(9));
  EXPECT_EQ(forward("10.7.0.9"), "ready 0/2 02:00:00:00:00:09");
}

TEST_F(RoutesByInterface, YamlRoutesNameThem) {
  config::Route route{.to = prefix("203.0.113.0/24"), .next_hops = {{.via = {}, .port = {}, .interface = 0}}};
  config.routes = {route};
  config.neighbors = {{.address = address("10.7.0.3"), .mac = mac(3), .port = 0, .interface = 0}};
  configure();
  EXPECT_EQ(forward("203.0.113.5"), "glean 0/2");
  EXPECT_EQ(forward("10.7.0.3"), "ready 0/2 02:00:00:00:00:03");
}

TEST_F(RoutesByInterface, AnAddressOfTheKernelThatYamlHasTooChangesNothing) {
  const auto before = sink.all();
  routes.on(AddressEvent{EventAction::add, 20, prefix("10.7.0.1/24")});
  EXPECT_EQ(sink.all(), before);
  routes.on(AddressEvent{EventAction::add, 20, prefix("10.70.0.1/24")});
  EXPECT_EQ(forward("10.70.0.9"), "glean 0/2");
  routes.on(AddressEvent{EventAction::remove, 20, prefix("10.70.0.1/24")});
  EXPECT_EQ(sink.all(), before);
}

}  // namespace
}  // namespace surety
