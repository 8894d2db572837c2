// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/kernel_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <vector>

#include "tests/unit/router/daemon/linux/network_namespace.h"

namespace surety {
namespace {

using ::testing::ThrowsMessage;
using Octets = std::vector<std::uint8_t>;

constexpr MacAddress kMac{2, 0, 0, 0, 0, 1};
const Octets kPeer{2, 0, 0, 0, 0, 0x99}, kBroadcast(6, 0xff);

Octets operator+(Octets a, const Octets& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Who has 10.9.1.254? Tell 10.9.1.1.
const Octets kRequest = kBroadcast + kPeer + Octets{8,    6,  0, 1, 8, 0, 6, 4, 0, 1, 2, 0,  0, 0, 0,
                                                    0x99, 10, 9, 1, 1, 0, 0, 0, 0, 0, 0, 10, 9, 1, 254};
const Octets kReply =
    kPeer + Octets(kMac.begin(), kMac.end()) +
    Octets{8, 6, 0, 1, 8, 0, 6, 4, 0, 2, 2, 0, 0, 0, 0, 1, 10, 9, 1, 254, 2, 0, 0, 0, 0, 0x99, 10, 9, 1, 1};

class TapMirrorTest : public InNetworkNamespace {
 protected:
  void open(std::uint16_t mtu = 1500) { twin.emplace(TapMirrorSettings{"mem0", kMac, mtu}); }
  void open_with_address() {
    open();
    run("ip addr add 10.9.1.254/24 dev mem0");
    carry();
  }
  // The kernel takes notice of a carrier later, up to a second where there was another change just before.
  void carry() {
    twin->set_carrier(true);
    run("timeout 5 sh -c 'until ip link show mem0 | grep -q \"state UP\"; do :; done'");
  }
  // The next frame of the kernel that `wanted` says is the one; it talks of its own accord, too.
  template <class Wanted>
  Octets next(Wanted&& wanted, std::size_t most = 2048) {
    Octets room(most);
    for (pollfd fd{twin->fd(), POLLIN, 0}; ::poll(&fd, 1, 3000) > 0;) {
      const auto frame = twin->read(room);
      if (Octets f(frame.begin(), frame.end()); wanted(f)) return f;
    }
    return {};
  }
  static bool is_arp(const Octets& f) { return f.size() >= 14 && f[12] == 8 && f[13] == 6; }
  static bool shows(const std::string& command, const std::string& text) {
    return std::system((command + " | grep -q '" + text + "'").c_str()) == 0;  // NOLINT(cert-env33-c)
  }
  std::optional<TapMirror> twin;
};

TEST_F(TapMirrorTest, HasTheMacAddressAndMtuOfItsPort) {
  open(9000);
  EXPECT_EQ(twin->name(), "mem0");
  EXPECT_EQ(twin->ifindex(), static_cast<int>(::if_nametoindex("mem0")));
  EXPECT_TRUE(shows("ip link show mem0", "mtu 9000 "));
  EXPECT_TRUE(shows("ip link show mem0", "link/ether 02:00:00:00:00:01"));
}

TEST_F(TapMirrorTest, FollowsTheMacAddressAndMtuOfItsPort) {
  open_with_address();
  twin->set_mac({2, 0, 0, 0, 0, 0x77});
  twin->set_mtu(1400);
  EXPECT_TRUE(shows("ip link show mem0", "mtu 1400 "));
  EXPECT_TRUE(shows("ip link show mem0", "link/ether 02:00:00:00:00:77"));
  EXPECT_TRUE(shows("ip addr show mem0", "10.9.1.254/24")) << "its addresses stay";
}

TEST_F(TapMirrorTest, CarrierFollowsTheLink) {
  open();
  EXPECT_TRUE(shows("ip link show mem0", "NO-CARRIER,.*UP"));
  twin->set_carrier(true);
  EXPECT_TRUE(shows("ip link show mem0", "UP,LOWER_UP"));
  twin->set_carrier(false);
  EXPECT_TRUE(shows("ip link show mem0", "NO-CARRIER"));
}

TEST_F(TapMirrorTest, KernelAnswersArpFromIt) {
  open_with_address();
  ASSERT_TRUE(twin->write(kRequest));
  EXPECT_EQ(next(is_arp), kReply);
  EXPECT_TRUE(shows("ip neigh show dev mem0", "10.9.1.1 lladdr 02:00:00:00:00:99"));
}

TEST_F(TapMirrorTest, FramesOfTheKernelComeWithTheirVlanTags) {
  open_with_address();
  const Fd raw(::socket(AF_PACKET, SOCK_RAW, 0));
  sockaddr_ll where{};
  where.sll_family = AF_PACKET;
  where.sll_ifindex = twin->ifindex();
  const Octets tag{0x81, 0, 0, 7};
  Octets tagged = kReply;
  tagged.insert(tagged.begin() + 12, tag.begin(), tag.end());
  ASSERT_EQ(::sendto(raw.get(), tagged.data(), tagged.size(), 0, reinterpret_cast<sockaddr*>(&where),
                     sizeof(where)),
            static_cast<ssize_t>(tagged.size()));
  EXPECT_EQ(next([](const Octets& f) { return f.size() >= 14 && f[12] == 0x81; }), tagged);
}

TEST_F(TapMirrorTest, AFrameLargerThanTheRoomFillsIt) {
  open_with_address();
  ASSERT_TRUE(twin->write(kRequest));
  EXPECT_EQ(next(is_arp, 20), Octets(kReply.begin(), kReply.begin() + 20));
}

TEST_F(TapMirrorTest, NothingToReadIsEmpty) {
  open();
  Octets room(64);
  EXPECT_TRUE(twin->read(room).empty());
}

TEST_F(TapMirrorTest, IsARoutersInterface) {
  run("echo 1 > /proc/sys/net/ipv6/conf/default/accept_ra");
  open();
  EXPECT_EQ(tun::read_setting("/proc/sys/net/ipv6/conf/mem0/forwarding"), 1);
  EXPECT_EQ(tun::read_setting("/proc/sys/net/ipv6/conf/mem0/accept_ra"), 0);
  EXPECT_EQ(tun::read_setting("/proc/sys/net/ipv6/conf/all/forwarding"), 0) << "the setting is its own";
  EXPECT_EQ(tun::read_setting("/proc/sys/net/ipv4/conf/mem0/forwarding"), 0) << "the data plane forwards";
  carry();
  EXPECT_TRUE(shows("ip -6 addr show dev mem0", "fe80::ff:fe00:1/64"));
}

TEST_F(TapMirrorTest, ADeviceThatIsDownRefuses) {
  open();
  run("ip link set mem0 down");
  EXPECT_FALSE(twin->write(kRequest));
}

TEST_F(TapMirrorTest, GoesWithItsObject) {
  open();
  twin.reset();
  EXPECT_EQ(::if_nametoindex("mem0"), 0U);
}

TEST_F(TapMirrorTest, NeverTakesAnInterfaceThatExists) {
  make_wire();
  EXPECT_THAT(
      [] {
        TapMirror({"a0", kMac, 1500});
      },
      ThrowsMessage<std::runtime_error>("an interface `a0` exists already"));
}

TEST(TapMirrorName, MustBeAnInterfaceName) {
  EXPECT_THAT(
      [] {
        TapMirror({"sixteen-letters-", kMac, 1500});
      },
      ThrowsMessage<std::runtime_error>(
          "\"sixteen-letters-\" is not an interface name (1 to 15 characters)"));
}

TEST_F(TapMirrorTest, MtuThatCannotBeIsRefused) {
  EXPECT_THAT([this] { open(20); },
              ThrowsMessage<std::runtime_error>("cannot give mem0 its port's MTU: Invalid argument"));
  EXPECT_EQ(::if_nametoindex("mem0"), 0U);
}

}  // namespace
}  // namespace surety
