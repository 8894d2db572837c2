// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/route_table.h"

#include <gtest/gtest.h>

#include "tests/unit/router/pipeline/routes/table_sink.h"

namespace surety {
namespace {

using namespace std::chrono_literals;

struct RouteTableTest : testing::Test {
  RouteTableTest() {
    config.ports.resize(2);
    config.ports[0].name = "lan0", config.ports[1].name = "wan0";
    config.ports[0].addresses = {prefix("10.0.0.1/24")};
    config.ports[1].addresses = {prefix("10.0.1.1/24"), prefix("2001:db8:1::1/64")};
    routes.configure(config);
    routes.bind_port(0, 10);
    routes.bind_port(1, 11);
  }
  void route(const std::string& to, std::vector<RouteNextHop> hops, std::uint32_t metric = 0) {
    routes.on(RouteEvent{EventAction::add, prefix(to), std::move(hops), metric, 186, false});
  }
  static std::string name(InterfaceIndex i) { return i == 0 ? "lan0" : "wan0"; }
  Json rows(std::size_t places = 1000) {
    RouteCopy copy;
    while (copy.step(routes, places)) continue;
    return route_rows(copy, name);
  }
  Json row(const std::string& prefix, std::size_t nth = 0) {
    for (const Json& r : rows())
      if (r["prefix"] == prefix && nth-- == 0) return r;
    return nullptr;
  }

  config::Config config;
  TableSink sink;
  Routes routes{sink, 4096};
};

TEST_F(RouteTableTest, OwnSubnetsAndAddresses) {
  EXPECT_EQ(row("10.0.0.0/24"), Json({{"prefix", "10.0.0.0/24"},
                                      {"next_hop", "on link"},
                                      {"interface", "lan0"},
                                      {"source", "connected"},
                                      {"metric", 0U},
                                      {"state", "active"}}));
  EXPECT_EQ(row("10.0.0.1/32")["next_hop"], "local");
  EXPECT_EQ(row("10.0.0.255/32")["next_hop"], "blackhole");
}

TEST_F(RouteTableTest, AGatewayThatIsNotKnownIsUnresolved) {
  route("10.9.0.0/16", {{parse_address("10.0.1.9"), 0}});
  EXPECT_EQ(row("10.9.0.0/16")["state"], "unresolved");
  routes.on(NeighborEvent{EventAction::add, 11, parse_address("10.0.1.9").value(), mac(9)});
  EXPECT_EQ(row("10.9.0.0/16"), Json({{"prefix", "10.9.0.0/16"},
                                      {"next_hop", "10.0.1.9"},
                                      {"interface", "wan0"},
                                      {"source", "kernel"},
                                      {"metric", 0U},
                                      {"state", "active"}}));
  EXPECT_EQ(row("10.0.1.9/32")["source"], "neighbor");
}

TEST_F(RouteTableTest, ARefusedRouteSaysWhy) {
  RouteEvent encap{.to = prefix("10.9.0.0/16"),
                   .next_hops = {{parse_address("10.0.1.9"), 11}},
                   .unsupported = Unsupported::encapsulation};
  routes.on(encap);
  EXPECT_EQ(row("10.9.0.0/16")["next_hop"], "unsupported (encapsulation)");
  EXPECT_EQ(row("10.9.0.0/16")["state"], "active");
  encap.unsupported = Unsupported::tos;
  routes.on(encap);
  EXPECT_EQ(row("10.9.0.0/16")["next_hop"], "unsupported (tos)");
}

TEST_F(RouteTableTest, RoutesOfTheKernelsOwn) {
  routes.on(RouteEvent{.to = prefix("10.9.0.0/16"), .next_hops = {{{}, 11}}, .connected = true, .mtu = 1400});
  EXPECT_EQ(row("10.9.0.0/16")["source"], "connected");
  EXPECT_EQ(row("10.9.0.0/16")["next_hop"], "on link mtu 1400");
  routes.on(RouteEvent{.to = prefix("10.8.0.0/16"), .blackhole = true, .refusal = kNextHopThrown});
  EXPECT_EQ(row("10.8.0.0/16")["next_hop"], "throw");
  routes.on(RouteEvent{
      .to = prefix("10.7.0.0/16"), .blackhole = true, .refusal = kNextHopLocalPrefix, .local_table = true});
  EXPECT_EQ(row("10.7.0.0/16")["next_hop"], "local");
  EXPECT_EQ(row("10.7.0.0/16")["source"], "kernel");
}

TEST_F(RouteTableTest, OfSeveralTheBestIsActive) {
  route("10.9.0.0/16", {{parse_address("10.0.1.9"), 0}}, 100);
  route("10.9.0.0/16", {{{}, 11}}, 5);
  EXPECT_EQ(row("10.9.0.0/16")["metric"], 5U);
  EXPECT_EQ(row("10.9.0.0/16")["state"], "active");
  EXPECT_EQ(row("10.9.0.0/16", 1)["metric"], 100U);
  EXPECT_EQ(row("10.9.0.0/16", 1)["state"], "standby");
}

TEST_F(RouteTableTest, FloatingStaticRoutesSayWhichIsUsed) {
  const Prefix to = prefix("10.9.0.0/16");
  config.routes = {{to, {{parse_address("10.0.1.9"), {}}}},
                   {to, {{parse_address("10.0.0.9"), {}}}, false, 250}};
  routes.configure(config);
  EXPECT_EQ(row("10.9.0.0/16")["metric"], 1U);
  EXPECT_EQ(row("10.9.0.0/16")["state"], "unresolved") << "is used";
  EXPECT_EQ(row("10.9.0.0/16", 1)["metric"], 250U);
  EXPECT_EQ(row("10.9.0.0/16", 1)["source"], "yaml");
  EXPECT_EQ(row("10.9.0.0/16", 1)["state"], "standby");
  routes.set_port_up(1, false);
  EXPECT_EQ(row("10.9.0.0/16")["state"], "standby");
  EXPECT_EQ(row("10.9.0.0/16", 1)["state"], "unresolved");
}

TEST_F(RouteTableTest, SeveralWaysAndTheirWeights) {
  route("10.9.0.0/16", {{parse_address("10.0.1.9"), 0, 3}, {parse_address("10.0.0.9"), 0, 1}});
  EXPECT_EQ(row("10.9.0.0/16")["next_hop"], "10.0.0.9, 10.0.1.9 x3");
  EXPECT_EQ(row("10.9.0.0/16")["interface"], "lan0, wan0");
}

TEST_F(RouteTableTest, OneThatLeadsNowhere) {
  route("10.9.0.0/16", {{parse_address("192.0.2.1"), 0}});
  EXPECT_EQ(row("10.9.0.0/16")["state"], "unusable");
  EXPECT_EQ(row("10.9.0.0/16")["next_hop"], "-");
}

TEST_F(RouteTableTest, InOrderHoweverSmallTheSteps) {
  for (int i = 40; i > 0; --i) route("10.9." + std::to_string(i) + ".0/24", {{{}, 11}});
  route("0.0.0.0/0", {{{}, 11}});
  const Json all = rows();
  EXPECT_EQ(rows(3), all);
  EXPECT_EQ(all.front()["prefix"], "0.0.0.0/0");
  EXPECT_EQ(all.back()["prefix"], "2001:db8:1::1/128");
  std::size_t ninth = 0, tenth = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i]["prefix"] == "10.9.9.0/24") ninth = i;
    if (all[i]["prefix"] == "10.9.10.0/24") tenth = i;
  }
  EXPECT_EQ(tenth, ninth + 1) << "as numbers";
}

TEST(NeighborRows, SayWhatIsKnown) {
  const IpAddress a = parse_address("10.0.0.10").value(), b = parse_address("10.0.0.9").value();
  using State = NeighborRow::State;
  const Json rows = neighbor_rows(
      {{a, 0, MacAddress{2, 0, 0, 0, 0, 1}, Routes::NeighborSource::learned, State::known, 1500ms},
       {b, 1, {}, {}, State::unreachable, {}}},
      [](InterfaceIndex i) { return i == 0 ? "lan0" : "wan0"; });
  EXPECT_EQ(rows, Json({{{"address", "10.0.0.9"}, {"interface", "wan0"}, {"state", "unreachable"}},
                        {{"address", "10.0.0.10"},
                         {"mac", "02:00:00:00:00:01"},
                         {"interface", "lan0"},
                         {"source", "learned"},
                         {"state", "known"},
                         {"age_seconds", 1.5}}}));
}

}  // namespace
}  // namespace surety
