// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/kernel_devices.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <fstream>
#include <initializer_list>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <vector>

#include "tests/unit/router/daemon/linux/netlink_text.h"
#include "tests/unit/router/daemon/linux/network_namespace.h"

namespace surety {
namespace {

using ::testing::StartsWith;
using ::testing::ThrowsMessage;
using Octets = std::vector<std::uint8_t>;

void append(Octets& to, const IpAddress& a) {
  to.insert(to.end(), a.data(), a.data() + a.size());
}

std::uint16_t internet_checksum(const Octets& bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2)
    sum += static_cast<std::uint32_t>(bytes[i] << 8 | bytes[i + 1]);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

// UDP from port 1000 to port 2000, without payload and without a UDP checksum.
const Octets kUdp{0x03, 0xe8, 0x07, 0xd0, 0, 8, 0, 0};

Octets ipv4_packet(const char* source, const char* destination, std::uint8_t ttl) {
  Octets p{0x45, 0, 0, 28, 0, 1, 0x40, 0, ttl, 17, 0, 0};
  append(p, address(source));
  append(p, address(destination));
  const std::uint16_t checksum = internet_checksum(p);
  p[10] = static_cast<std::uint8_t>(checksum >> 8);
  p[11] = static_cast<std::uint8_t>(checksum);
  p.insert(p.end(), kUdp.begin(), kUdp.end());
  return p;
}
Octets ipv6_packet(const char* source, const char* destination, std::uint8_t hop_limit) {
  Octets p{0x60, 0, 0, 0, 0, 8, 17, hop_limit};
  append(p, address(source));
  append(p, address(destination));
  p.insert(p.end(), kUdp.begin(), kUdp.end());
  return p;
}

int setting(const std::string& path) {
  int value = -1;
  std::ifstream("/proc/sys/net/" + path) >> value;
  return value;
}

// A customer behind a0 (the other end of the wire is where it is watched from) and a
// destination that is routed.
class PuntDeviceTest : public InNetworkNamespace {
 protected:
  void SetUp() override {
    InNetworkNamespace::SetUp();
    if (IsSkipped()) return;
    make_wire();
    run("ip neigh add 10.9.1.1 lladdr 02:00:00:00:00:0b dev a0 && ip route add 10.77.0.0/16 via 10.9.1.1");
    run("ip neigh add 2001:db8:1::1 lladdr 02:00:00:00:00:0b dev a0 && ip route add 2001:db8:9::/48 via "
        "2001:db8:1::1");
    watch_ = Fd(::socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_ALL)));
    sockaddr_ll where{};
    where.sll_family = AF_PACKET;
    where.sll_protocol = htons(ETH_P_ALL);
    where.sll_ifindex = static_cast<int>(::if_nametoindex("b0"));
    ASSERT_EQ(::bind(watch_.get(), reinterpret_cast<sockaddr*>(&where), sizeof(where)), 0);
  }
  void open(const std::string& name = "surety-punt") { device_.emplace(name); }
  // The next IP packet of this protocol that comes out of the wire; none if it stays away.
  std::optional<Octets> next(std::uint8_t protocol) {
    std::array<std::uint8_t, 2048> buffer;
    for (pollfd fd{watch_.get(), POLLIN, 0}; ::poll(&fd, 1, 3000) > 0;) {
      const ssize_t n = ::recv(watch_.get(), buffer.data(), buffer.size(), 0);
      if (n < 40 && !(n >= 20 && buffer[0] >> 4 == 4)) continue;
      // IPv6 nodes report their groups and solicit routers of their own accord: not what is waited for.
      const bool own_talk = buffer[0] >> 4 == 6 && (buffer[6] == 0 || (buffer[6] == 58 && buffer[40] >= 128));
      if (!own_talk && buffer[buffer[0] >> 4 == 4 ? 9 : 6] == protocol)
        return Octets(buffer.data(), buffer.data() + n);
    }
    return std::nullopt;
  }
  std::optional<PuntDevice> device_;
  Fd watch_;
};

TEST_F(PuntDeviceTest, KernelAnswersTimeExceeded) {
  open();
  const Octets spent = ipv4_packet("10.9.1.1", "10.77.0.1", 1);
  ASSERT_TRUE(device_->write(spent));
  const auto answer = next(1);
  ASSERT_TRUE(answer);
  EXPECT_EQ((*answer)[20], 11);  // time exceeded
  EXPECT_EQ((*answer)[21], 0);   // in transit
  EXPECT_EQ(Octets(answer->begin() + 12, answer->begin() + 20), (Octets{10, 9, 1, 254, 10, 9, 1, 1}));
  EXPECT_EQ(Octets(answer->begin() + 28, answer->begin() + 56), spent);  // quoted
}

TEST_F(PuntDeviceTest, KernelForwards) {
  open();
  ASSERT_TRUE(device_->write(ipv4_packet("10.9.1.1", "10.77.0.1", 9)));
  EXPECT_EQ(next(17), ipv4_packet("10.9.1.1", "10.77.0.1", 8));
}

TEST_F(PuntDeviceTest, KernelAnswersUnreachable) {
  open();
  ASSERT_TRUE(device_->write(ipv4_packet("10.9.1.1", "192.0.2.1", 9)));
  const auto answer = next(1);
  ASSERT_TRUE(answer);
  EXPECT_EQ((*answer)[20], 3);
}

TEST_F(PuntDeviceTest, ReversePathFilterForAllDevicesDoesNotMatter) {
  for (const char* mode : {"1", "2"}) {
    run(std::string("echo ") + mode + " > /proc/sys/net/ipv4/conf/all/rp_filter");
    open();
    EXPECT_EQ(setting("ipv4/conf/surety-punt/rp_filter"), 2);
    ASSERT_TRUE(device_->write(ipv4_packet("10.9.1.1", "10.77.0.1", 1)));
    EXPECT_TRUE(next(1)) << mode;
    device_.reset();
  }
}

TEST_F(PuntDeviceTest, Ipv6AnswersWhereTheKernelForwardsForTheDeviceOrForAll) {
  open();
  if (setting("ipv6/conf/surety-punt/force_forwarding") != 1)
    run("echo 1 > /proc/sys/net/ipv6/conf/all/forwarding");  // before Linux 6.17
  ASSERT_TRUE(device_->write(ipv6_packet("2001:db8:1::1", "2001:db8:9::1", 1)));
  const auto answer = next(58);
  ASSERT_TRUE(answer);
  EXPECT_EQ((*answer)[40], 3);  // time exceeded, RFC 4443
}

TEST_F(PuntDeviceTest, SettingsAreTheDevicesOwn) {
  open("punt0");
  EXPECT_EQ(setting("ipv4/conf/punt0/forwarding"), 1);
  EXPECT_EQ(setting("ipv4/conf/punt0/rp_filter"), 0);
  EXPECT_EQ(setting("ipv4/ip_forward"), 0);
  EXPECT_EQ(setting("ipv4/conf/a0/forwarding"), 0);
  EXPECT_EQ(setting("ipv6/conf/all/forwarding"), 0);
}

TEST_F(PuntDeviceTest, GoesWithItsObject) {
  open("punt0");
  EXPECT_NE(::if_nametoindex("punt0"), 0U);
  EXPECT_EQ(device_->name(), "punt0");
  device_.reset();
  EXPECT_EQ(::if_nametoindex("punt0"), 0U);
}

TEST_F(PuntDeviceTest, NoTwoOfAName) {
  open("punt0");
  EXPECT_THAT(
      [] { PuntDevice("punt0"); },
      ThrowsMessage<std::runtime_error>("cannot create the TUN device punt0: Device or resource busy"));
  EXPECT_THAT([] { PuntDevice("a0"); },
              ThrowsMessage<std::runtime_error>(StartsWith("cannot create the TUN device a0: ")));
}

TEST_F(PuntDeviceTest, WhatIsNoIpPacketIsRefused) {
  open();
  EXPECT_FALSE(device_->write(Octets{}));
  EXPECT_FALSE(device_->write(Octets{0x15, 0, 0, 20}));
}

TEST_F(PuntDeviceTest, DownDeviceRefuses) {
  open();
  run("ip link set surety-punt down");
  EXPECT_FALSE(device_->write(ipv4_packet("10.9.1.1", "10.77.0.1", 9)));
}

TEST(PuntDeviceName, MustBeAnInterfaceName) {
  for (const std::string name : {"", "sixteen-letters-", "a/b", "..", "tun%d", "a b"})
    EXPECT_THAT(
        [&] { PuntDevice{name}; },
        ThrowsMessage<std::runtime_error>("\"" + name + "\" is not an interface name (1 to 15 characters)"));
}

}  // namespace
}  // namespace surety
