// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/machine/nics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/router/operate/machine/fake_machine.h"

namespace surety::machine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> kept(const FakeMachine& m, const std::optional<std::string>& ssh = {}) {
  std::vector<std::string> names;
  for (const Nic& nic : find_nics(m.host(), ssh))
    if (!nic.kept.empty()) names.push_back(nic.name);
  return names;
}

TEST(Nics, SaysWhatThereIs) {
  FakeMachine m;
  m.interface("lo", "00:00:00:00:00:00", 772);
  m.interface("dummy0", "02:00:00:00:00:aa");
  m.interface("veth0", "02:00:00:00:00:bb");
  m.answer("ip_-j_link_show_type_veth", R"([{"ifname": "veth0"}])");
  m.put("/sys/class/net/eth2/queues/rx-1/rps_cpus", "0");
  m.put("/etc/network/interfaces", "# eth1\nallow-hotplug eth2\niface eth22 inet dhcp\n");
  const auto nics = find_nics(m.host(), {});
  ASSERT_EQ(nics.size(), 4U);
  EXPECT_EQ(nics[0].pci, "0000:00:03.0");
  EXPECT_EQ(nics[0].kept, "carries the default route");
  EXPECT_THAT(nics[0].uses, ElementsAre("address 192.0.2.2/24"));
  EXPECT_TRUE(nics[1].is_free());
  EXPECT_EQ(nics[1].driver, "ixgbe");
  EXPECT_EQ(nics[1].mbit, 10000);
  EXPECT_THAT(nics[2].uses, ElementsAre("/etc/network/interfaces"));
  EXPECT_EQ(nics[2].rx_queues, 2U);
  EXPECT_EQ(nics[3].name, "veth0");
  EXPECT_THAT(nic_table(nics), HasSubstr("carries the default route: never taken"));
}

TEST(Nics, ThoseOfVfioHaveNoInterface) {
  FakeMachine m;
  m.put("/sys/bus/pci/devices/0000:03:00.0/class", "0x020000");
  m.driver("0000:03:00.0", "vfio-pci");
  const auto nics = find_nics(m.host(), {});
  EXPECT_EQ(nics.back().pci, "0000:03:00.0");
  EXPECT_TRUE(nics.back().name.empty());
  EXPECT_TRUE(nics.back().is_free());
  m.driver("0000:03:00.0", "ice");  // whose interface another network namespace has
  EXPECT_EQ(find_nics(m.host(), {}).back().kept, "is used elsewhere, by driver ice");
}

TEST(KeptInterfaces, AreThoseBelowTheDefaultRouteOfAnyTableAndFamily) {
  FakeMachine m;
  m.routes(R"([{"dst": "default", "dev": "vlan5", "table": "7"}])");
  m.below("vlan5", "bond0");
  m.below("bond0", "eth1");
  EXPECT_THAT(kept(m), ElementsAre("eth1"));
  m.answer("ip_-j_-6_route_show_table_all",
           R"([{"dst": "default", "nexthops": [{"dev": "eth0"}, {"dev": "eth2"}]}])");
  EXPECT_THAT(kept(m), ElementsAre("eth0", "eth1", "eth2"));
}

TEST(KeptInterfaces, HalvesOfAllAddressesAreADefaultRoute) {
  FakeMachine m;
  m.routes(R"([{"dst": "128.0.0.0/1", "dev": "eth2"}])");
  EXPECT_THAT(kept(m), ElementsAre("eth2"));
}

TEST(KeptInterfaces, AreTheWayToTheOneWhoIsHereBySsh) {
  FakeMachine m;
  m.routes("[]");
  m.way_to("198.51.100.9", "br0");
  m.below("br0", "eth2");
  m.addresses(R"([{"ifname": "eth1", "addr_info": [{"local": "10.0.0.1", "prefixlen": 24}]}])");
  EXPECT_THAT(kept(m, "198.51.100.9 5000 10.9.9.9 22"), ElementsAre("eth2"));
  // Answers may leave by another one than questions come by.
  EXPECT_THAT(kept(m, "198.51.100.9 5000 10.0.0.1 22"), ElementsAre("eth1", "eth2"));
}

TEST(KeptInterfaces, SudoHidesTheSessionFromItsChildOnly) {
  FakeMachine m;
  m.routes("[]");
  m.way_to("198.51.100.9", "eth2");
  m.put("/proc/self/stat", "9 (surety (x)) R 8 9 9");
  m.put("/proc/self/environ", std::string("PATH=/bin\0", 10));
  m.put("/proc/8/stat", "8 (sudo) S 7 8 8");
  m.put("/proc/7/stat", "7 (bash) S 1 7 7");
  m.put("/proc/7/environ", std::string("A=b\0SSH_CONNECTION=198.51.100.9 5000 10.9.9.9 22\0C=d\0", 53));
  EXPECT_THAT(kept(m), ElementsAre("eth2"));
}

TEST(KeptInterfaces, BehindATunnelAllWithAGateway) {
  FakeMachine m;
  m.interface("wg0", "", 65534);
  m.routes(R"([{"dst": "default", "dev": "wg0"}, {"dst": "203.0.113.7", "gateway": "10.0.0.1", "dev": "eth1"},
               {"dst": "10.5.0.0/24", "dev": "eth2"}])");
  EXPECT_THAT(kept(m), ElementsAre("eth1"));
}

TEST(KeptInterfaces, WithoutAnAnswerNothingIsKnown) {
  FakeMachine m;
  m.remove("/commands/ip_-j_-6_route_show_table_all");
  EXPECT_THROW(find_nics(m.host(), {}), std::runtime_error);
  m.answer("ip_-j_-6_route_show_table_all", "[]");
  m.answer("ip_-j_-4_route_show_table_all", "[{");
  EXPECT_THROW(find_nics(m.host(), {}), std::runtime_error);
}

}  // namespace
}  // namespace surety::machine
