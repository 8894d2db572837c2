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
