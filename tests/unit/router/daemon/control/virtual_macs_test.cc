// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/control/virtual_macs.h"

#include <gmock/gmock.h>

namespace surety {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int kPort = 7, kVrrp = 20;
constexpr MacAddress kFirst{0, 0, 0x5e, 0, 1, 10}, kSecond{0, 0, 0x5e, 0, 2, 10};

LinkEvent link(int ifindex, const MacAddress& mac, int below = kPort, bool up = true) {
  return {.ifindex = ifindex,
          .name = "vrrp",
          .up = up,
          .mtu = 1500,
          .mac = mac,
          .enabled = true,
          .macvlan_of = below};
}

TEST(VirtualMacs, AreThoseOfMacvlanDevicesThatAreUp) {
  VirtualMacs macs;
  EXPECT_TRUE(macs.take_changed()) << "ports have none yet";
  macs.on(link(kVrrp, kFirst));
  macs.on(link(kVrrp + 1, kSecond));
  macs.on(link(kVrrp + 2, {2, 0, 0, 0, 0, 1}, 0));
  EXPECT_TRUE(macs.take_changed());
  EXPECT_THAT(macs.of(kPort), ElementsAre(kFirst, kSecond));
  EXPECT_THAT(macs.of(kPort + 1), IsEmpty());
  macs.on(link(kVrrp, kFirst));
  EXPECT_FALSE(macs.take_changed()) << "reported twice";
  macs.on(link(kVrrp, kFirst, kPort, false));
  EXPECT_TRUE(macs.take_changed());
  EXPECT_THAT(macs.of(kPort), ElementsAre(kSecond)) << "a backup's device is down";
}

TEST(VirtualMacs, FollowAnotherAddressAndAnotherDeviceBelow) {
  VirtualMacs macs;
  macs.on(link(kVrrp, kFirst));
  macs.on(link(kVrrp, kSecond));
  EXPECT_THAT(macs.of(kPort), ElementsAre(kSecond));
  macs.on(link(kVrrp, kSecond, kPort + 1));
  EXPECT_THAT(macs.of(kPort), IsEmpty());
  EXPECT_THAT(macs.of(kPort + 1), ElementsAre(kSecond));
}

TEST(VirtualMacs, ADeviceThatIsNotReportedAgainIsGone) {
  VirtualMacs macs;
  macs.on(link(kVrrp, kFirst));
  macs.on(link(kVrrp + 1, kSecond));
  macs.begin_sync();
  macs.on(link(kVrrp + 1, kSecond));
  macs.take_changed();
  macs.end_sync();
  EXPECT_TRUE(macs.take_changed());
  EXPECT_THAT(macs.of(kPort), ElementsAre(kSecond));
}

}  // namespace
}  // namespace surety
