// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/device_events.h"

#include <gtest/gtest.h>

namespace surety {
namespace {

config::Port port() {
  config::Port p;
  p.name = "wan0";
  p.device = {
      .kind = config::Device::Kind::af_xdp, .name = "eth1", .server = false, .rx_file = {}, .tx_file = {}};
  return p;
}

TEST(DeviceEvents, ADeviceThatIsGoneIsMissing) {
  const Event e = device_events::gone(port(), true);
  EXPECT_EQ(e.level, EventLevel::warning);
  EXPECT_EQ(e.text,
            "port wan0: its device eth1 was deleted or renamed; the router forwards without it, and opens it "
            "when it "
            "appears");
  EXPECT_EQ(e.fields, Json({{"port", "wan0"}, {"state", "missing"}}));
  EXPECT_EQ(device_events::gone(port(), false).text,
            "port wan0: its device eth1 was deleted or renamed; the router forwards without it until it is "
            "restarted");
}

TEST(DeviceEvents, ARemovedPciDeviceNeedsARestart) {
  config::Port p = port();
  p.device.kind = config::Device::Kind::pci;
  p.device.name = "0000:01:00.0";
  EXPECT_EQ(device_events::gone(p, false).text,
            "port wan0: its PCI device 0000:01:00.0 was removed; the router forwards without it until it is "
            "restarted");
}

TEST(DeviceEvents, AnMtuThatIsTooLowIsAWarningWithTheFix) {
  config::Port p = port();
  p.device_mtu = 1400;
  const Event low = device_events::mtu(p);
  EXPECT_EQ(low.level, EventLevel::warning);
  EXPECT_EQ(low.text,
            "port wan0: eth1 has an MTU of 1400, below the configured 1500: it is the port's; "
            "`ip link set eth1 mtu 1500` raises it");
  EXPECT_EQ(low.fields, Json({{"port", "wan0"}, {"mtu", 1400}}));
  p.device_mtu = 0;
  const Event again = device_events::mtu(p);
  EXPECT_EQ(again.level, EventLevel::notice);
  EXPECT_EQ(again.text, "port wan0: the MTU of eth1 is no longer below the configured 1500");
}

TEST(DeviceEvents, AnotherMacAddressIsNamedWithThePrevious) {
  const Event e = device_events::mac(port(), {2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 0x99});
  EXPECT_EQ(e.level, EventLevel::notice);
  EXPECT_EQ(e.text,
            "port wan0: the MAC address of eth1 is 02:00:00:00:00:99 now, and was 02:00:00:00:00:01; it is "
            "announced to hosts");
  EXPECT_EQ(e.fields, Json({{"port", "wan0"}, {"mac", "02:00:00:00:00:99"}}));
}

}  // namespace
}  // namespace surety
