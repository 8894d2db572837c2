// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/dpdk/plan.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <regex>
#include <string>

namespace surety::endpoints {
namespace {

using Kind = config::Device::Kind;

config::EndpointPort port(Kind kind, const std::string& name, const char* address = "10.1.0.1/16") {
  config::EndpointPort p;
  p.name = "lan";
  p.device.kind = kind;
  p.device.name = name;
  p.addresses = {parse_prefix(address).value()};
  return p;
}
config::Port planned(const config::EndpointPort& p) {
  config::Endpoints c;
  c.ports = {p};
  return port_config(c, "endpoint-1").ports.at(0);
}

// A kernel's device receives what is for its own address only.
TEST(EndpointPlan, FramesForOtherAddressesNeedAPromiscuousDevice) {
  EXPECT_FALSE(planned(port(Kind::af_packet, "eth1")).promiscuous);
  EXPECT_TRUE(planned(port(Kind::af_packet, "eth1", "2001:db8::1/64")).promiscuous)
      << "solicited-node groups";
  config::EndpointPort p = port(Kind::af_packet, "eth1");
  p.mac = MacAddress{2, 0, 0, 0, 0, 9};
  EXPECT_TRUE(planned(p).promiscuous);
  p.device.kind = Kind::null;
  EXPECT_FALSE(planned(p).promiscuous) << "null devices have no such mode";
  EXPECT_EQ(planned(p).mac, p.mac);
}

// ARP entries of the peers stay valid over a restart.
TEST(EndpointPlan, AnEndOfALinkHasAnAddressThatLasts) {
  config::EndpointPort p = port(Kind::memif, "/run/a.sock");
  const auto mac = planned(p).mac;
  ASSERT_TRUE(mac);
  EXPECT_EQ(planned(p).mac, mac);
  p.device.name = "/run/b.sock";
  EXPECT_NE(planned(p).mac, mac);
  p = port(Kind::memif, "/run/a.sock");
  p.device.server = true;
  EXPECT_NE(planned(p).mac, mac) << "the other end";
}

TEST(EndpointPlan, AFloatingWorkerMayRunOnAllCores) {
  const config::Config ports = port_config(config::Endpoints{}, "endpoint-1");
  const auto lcores = [&](Placement placement, int core) {
    const auto words = plan_endpoint_eal(ports, placement, core).arguments;
    return *(std::find(words.begin(), words.end(), "--lcores") + 1);
  };
  EXPECT_TRUE(std::regex_match(lcores(Placement::floating, -1), std::regex(R"(0@\(([0-9,]+)\),1@\(\1\))")))
      << lcores(Placement::floating, -1);
  const int here = ::sched_getcpu();
  EXPECT_EQ(lcores(Placement::floating, here), lcores(Placement::own_core, here)) << "a core that is given";
}

}  // namespace
}  // namespace surety::endpoints
