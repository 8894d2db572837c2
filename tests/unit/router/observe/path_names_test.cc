// SPDX-License-Identifier: BSD-3-Clause
#include "router/observe/path_names.h"

#include <gtest/gtest.h>

#include "tests/unit/router/routes/table_sink.h"

namespace surety {
namespace {

// Two uplinks; routes of YAML.
class PathNamesTest : public testing::Test {
 protected:
  PathNamesTest() {
    config.ports.resize(2);
    config.ports[0].name = "wan0";
    config.ports[0].addresses = {prefix("10.2.0.254/24")};
    config.ports[1].name = "wan1";
    config.ports[1].addresses = {prefix("10.3.0.254/24")};
  }
  void route(const std::string& to, const std::vector<std::string>& gateways) {
    config::Route r;
    r.to = prefix(to);
    for (const std::string& g : gateways) r.next_hops.push_back({address(g), std::nullopt});
    config.routes.push_back(r);
  }
  SignalPathReading path(const std::string& to) {
    const RouteTarget target = sink.routes.at(prefix(to));
    SignalPathReading p;
    p.next_hop = target.first;
    p.next_hops = target.count;
    return p;
  }
  std::string name(const std::string& to) {
    SignallingReading s;
    s.paths = {path(to)};
    PathNames names;
    names.learn(s, routes, sink.table, config);
    names.apply(s);
    return s.paths[0].gateway;
  }

  config::Config config;
  TableSink sink;
  Routes routes{sink, 4096};
};

TEST_F(PathNamesTest, AGatewayAndItsPort) {
  route("198.51.100.0/24", {"10.2.0.1"});
  routes.configure(config);
  EXPECT_EQ(name("198.51.100.0/24"), "via 10.2.0.1 wan0");
}

TEST_F(PathNamesTest, AllNextHopsOfEcmpEachOnce) {
  route("198.51.100.0/24", {"10.2.0.1", "10.3.0.1"});
  routes.configure(config);
  EXPECT_EQ(name("198.51.100.0/24"), "via 10.2.0.1 wan0, via 10.3.0.1 wan1");
}

TEST_F(PathNamesTest, ASubnetOfAPort) {
  routes.configure(config);
  EXPECT_EQ(name("10.3.0.0/24"), "on wan1");
}

TEST_F(PathNamesTest, ManyNextHopsAreCut) {
  std::vector<std::string> gateways;
  for (int i = 1; i <= 32; ++i) gateways.push_back("10.2.0." + std::to_string(i));
  route("198.51.100.0/24", gateways);
  routes.configure(config);
  const std::string cut = name("198.51.100.0/24");
  EXPECT_TRUE(cut.starts_with("via 10.2.0.1 wan0, via 10.2.0.2 wan0, ")) << cut;
  EXPECT_TRUE(cut.ends_with(" wan0, ...")) << cut;
  EXPECT_LE(cut.size(), 127u) << "what telemetry's strings take";
}

TEST_F(PathNamesTest, APathOfLaterIsCalledByItsId) {
  SignallingReading s;
  s.paths.resize(1);
  s.paths[0].next_hop = 17;
  PathNames().apply(s);
  EXPECT_EQ(s.paths[0].gateway, "next hop 17");
}

TEST_F(PathNamesTest, ARouteThatIsGoneLeadsNowhere) {
  SignallingReading s;
  s.paths.resize(1);
  s.paths[0].next_hop = 100;
  s.paths[0].next_hops = 1;
  PathNames names;
  names.learn(s, routes, sink.table, config);
  names.apply(s);
  EXPECT_EQ(s.paths[0].gateway, "nowhere");
}

}  // namespace
}  // namespace surety
