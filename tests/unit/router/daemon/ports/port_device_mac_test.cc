// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/port_device.h"

#include <gtest/gtest.h>

#include <set>

namespace surety {
namespace {

using Kind = config::Device::Kind;

std::string text(std::string_view router, std::string_view port) {
  return to_string(derived_mac(router, port));
}

// Neighbours keep addresses for hours: another release must derive the same ones.
TEST(DerivedMac, IsTheSameForever) {
  EXPECT_EQ(text("edge1", "core0"), "2e:75:b6:c2:fc:6d");
  EXPECT_EQ(text("core1", "in0"), "7a:7e:c9:9a:47:25");
}

TEST(DerivedMac, IsLocallyAdministeredAndUnicast) {
  for (const char* port : {"", "a", "b", "in0", "out0", "a port with a long name"})
    EXPECT_EQ(derived_mac("router", port)[0] & 0x03, 0x02) << port;
}

TEST(DerivedMac, DiffersWhereANameDiffers) {
  std::set<std::string> all;
  for (int router = 0; router < 100; ++router)
    for (int port = 0; port < 100; ++port)
      all.insert(text("r" + std::to_string(router), "p" + std::to_string(port)));
  EXPECT_EQ(all.size(), 10000u);
}

TEST(DerivedMac, KnowsWhereOneNameEnds) {
  EXPECT_NE(text("a", "bc"), text("ab", "c"));
}

TEST(DeriveMacs, GivesThemWhereTheDeviceHasNoLastingOne) {
  config::Config c;
  c.router.name = "edge1";
  for (const Kind kind : {Kind::memif, Kind::virtio_user, Kind::vhost, Kind::tap, Kind::pci, Kind::af_xdp,
                          Kind::af_packet, Kind::pcap, Kind::null}) {
    auto& port = c.ports.emplace_back();
    port.name = "p" + std::to_string(c.ports.size());
    port.device.kind = kind;
  }
  derive_macs(c);
  for (std::size_t p = 0; p < 4; ++p) {
    ASSERT_TRUE(c.ports[p].mac) << p;
    EXPECT_EQ(*c.ports[p].mac, derived_mac("edge1", c.ports[p].name));
  }
  for (std::size_t p = 4; p < c.ports.size(); ++p) EXPECT_FALSE(c.ports[p].mac) << p;
}

TEST(DeriveMacs, LeavesAConfiguredOne) {
  const MacAddress own{{2, 0, 0, 0, 0, 9}};
  config::Config c;
  c.ports.resize(1);
  c.ports[0].device.kind = Kind::memif;
  c.ports[0].mac = own;
  derive_macs(c);
  EXPECT_EQ(*c.ports[0].mac, own);
}

}  // namespace
}  // namespace surety
