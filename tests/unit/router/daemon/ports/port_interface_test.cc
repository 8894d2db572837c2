// SPDX-License-Identifier: BSD-3-Clause
// A port on a device of the kernel that other programs change.
#include "router/daemon/ports/port.h"
#include "tests/unit/router/daemon/ports/namespace_and_back.h"
#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

config::Port packet_port() {
  config::Port p;
  p.name = "p0";
  p.device.kind = config::Device::Kind::af_packet;
  p.device.name = "a0";
  return p;
}

class PortInterfaceTest : public InNamespaceAndBack {};

TEST_F(PortInterfaceTest, HasTheLowerMtuOfTheTwo) {
  make_wire();
  const config::Port config = packet_port();
  DpdkPort port(config, 0, test::packet_pool());
  port.start();
  EXPECT_EQ(port.device_mtu(config), 0);
  EXPECT_EQ(port.largest_frame(), 1500u + 14 + 4);
  run("ip link set a0 mtu 1400");
  port.follow(state_of("a0").value());
  EXPECT_EQ(port.device_mtu(config), 1400);
  EXPECT_EQ(port.largest_frame(), 1400u + 14 + 4);
  config::Port other = config;
  other.mtu = 1300;
  EXPECT_EQ(port.device_mtu(other), 0) << "change() sets it";
  port.limit_frames(1200);
  EXPECT_EQ(port.largest_frame(), 1200u + 14 + 4);
  EXPECT_EQ(port.device_mtu(config), 1400) << "until it is followed";
  run("ip link set a0 mtu 9000");
  port.follow(state_of("a0").value());
  EXPECT_EQ(port.device_mtu(config), 0);
}

TEST_F(PortInterfaceTest, HasTheMacAddressOfItsDeviceUnlessOneIsConfigured) {
  make_wire();
  config::Port config = packet_port();
  for (const auto& configured : {std::optional<MacAddress>{}, std::optional(MacAddress{2, 0, 0, 0, 0, 9})}) {
    config.mac = configured;
    run("ip link set a0 address 02:00:00:00:00:0a");
    DpdkPort port(config, 0, test::packet_pool());
    port.start();
    EXPECT_EQ(port.mac(), configured.value_or(MacAddress{2, 0, 0, 0, 0, 0xa}));
    run("ip link set a0 address 02:00:00:00:00:99");
    port.follow(state_of("a0").value());
    EXPECT_EQ(port.mac(), configured.value_or(MacAddress{2, 0, 0, 0, 0, 0x99}));
  }
}

TEST_F(PortInterfaceTest, OfAfPacketMayHaveAnMtuAbove1500) {
  make_wire();
  config::Port config = packet_port();
  config.mtu = 1900;
  {
    DpdkPort port(config, 0, test::packet_pool());
    port.start();
    EXPECT_EQ(state_of("a0")->mtu, 1900u);
    config.mtu = 1950;
    port.change(config);
    EXPECT_EQ(state_of("a0")->mtu, 1950u);
    config.mtu = 1965;
    EXPECT_THROW(port.change(config), std::runtime_error) << "its ring has no frames for it";
    EXPECT_EQ(state_of("a0")->mtu, 1950u);
  }
  EXPECT_EQ(state_of("a0")->mtu, 1500u) << "as before";
}

TEST_F(PortInterfaceTest, ARenamedDeviceGetsItsMtuBackAndTheNextOfItsNameKeepsIts) {
  make_wire();
  config::Port config = packet_port();
  config.mtu = 1900;
  {
    DpdkPort port(config, 0, test::packet_pool());
    port.start();
    run("ip link set a0 down && ip link set a0 name x0 && ip link add a0 mtu 1600 type veth peer name c0");
  }
  EXPECT_EQ(state_of("x0")->mtu, 1500u);
  EXPECT_EQ(state_of("a0")->mtu, 1600u);
}

TEST_F(PortInterfaceTest, FindsALowerMtuBeforeItIsOpen) {
  make_wire();
  run("ip link set a0 mtu 1400");
  config::Port config = packet_port();
  EXPECT_EQ(DpdkPort::device_mtu_found(config), 1400);
  config.mtu = 1450;
  EXPECT_EQ(DpdkPort::device_mtu_found(config), 0) << "the port sets it";
  config.device.kind = config::Device::Kind::null;
  EXPECT_EQ(DpdkPort::device_mtu_found(config), 0);
}

}  // namespace
}  // namespace surety
