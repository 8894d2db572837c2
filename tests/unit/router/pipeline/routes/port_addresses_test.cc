// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/port_addresses.h"

#include <gtest/gtest.h>

#include "tests/unit/router/daemon/linux/responder_frames.h"

namespace surety {
namespace {

using responder_frames::address;
using responder_frames::kOurs;
using responder_frames::prefix;

struct PortAddressesTest : testing::Test {
  PortAddresses port{{prefix("10.1.0.254/24"), prefix("2001:db8:1::fe/64")}, {prefix("192.0.2.1/32")}, kOurs};
  std::string source_towards(const std::string& peer) const {
    const auto a = port.source_towards(address(peer));
    return a ? to_string(*a) : "none";
  }
};

TEST_F(PortAddressesTest, ThePortsOwnAndTheRouters) {
  for (const char* own : {"10.1.0.254", "2001:db8:1::fe", "fe80::ff:fe00:1"}) {
    EXPECT_TRUE(port.of_port(address(own))) << own;
    EXPECT_TRUE(port.of_router(address(own))) << own;
  }
  EXPECT_FALSE(port.of_port(address("192.0.2.1")));
  EXPECT_TRUE(port.of_router(address("192.0.2.1")));
  EXPECT_FALSE(port.of_router(address("10.1.0.1")));
}

TEST_F(PortAddressesTest, StationsOfTheLink) {
  for (const char* station : {"10.1.0.1", "10.1.0.253", "2001:db8:1::1", "fe80::99"})
    EXPECT_TRUE(port.on_link(address(station))) << station;
  for (const char* other : {"10.1.0.254", "10.1.0.0", "10.1.0.255", "10.1.1.1", "0.0.0.0", "255.255.255.255",
                            "224.0.0.5", "2001:db8:2::1", "ff02::1", "::"})
    EXPECT_FALSE(port.on_link(address(other))) << other;
}

TEST_F(PortAddressesTest, SpeaksFromTheSubnetOfItsPeer) {
  EXPECT_EQ(source_towards("10.1.0.1"), "10.1.0.254");
  EXPECT_EQ(source_towards("198.51.100.1"), "10.1.0.254");
  EXPECT_EQ(source_towards("2001:db8:1::1"), "2001:db8:1::fe");
  EXPECT_EQ(source_towards("2001:db8:9::1"), "2001:db8:1::fe");
  EXPECT_EQ(source_towards("fe80::99"), "fe80::ff:fe00:1");
}

TEST_F(PortAddressesTest, FurtherAddressesComeAndGo) {
  PortAddresses more({prefix("10.1.0.254/24")}, {}, kOurs);
  more.add(prefix("2001:db8:5::fe/64"));
  more.add(prefix("2001:db8:5::fe/64"));
  EXPECT_EQ(more.list().size(), 3U) << "with the link-local one";
  EXPECT_TRUE(more.on_link(address("2001:db8:5::1")));
  EXPECT_EQ(to_string(*more.source_towards(address("fe80::99"))), "fe80::ff:fe00:1");
  more.remove(prefix("2001:db8:5::fe/64"));
  EXPECT_FALSE(more.on_link(address("2001:db8:5::1")));
}

TEST_F(PortAddressesTest, WithoutIpv6ThereIsNoLinkLocalAddress) {
  const PortAddresses v4({prefix("10.1.0.254/24")}, {prefix("2001:db8::1/128")}, kOurs);
  EXPECT_EQ(v4.list().size(), 1U);
  EXPECT_FALSE(v4.on_link(address("fe80::99")));
  EXPECT_EQ(to_string(*v4.source_towards(address("2001:db8:1::1"))), "2001:db8::1");
}

TEST(AddressHolders, AnAddressGoesWithTheLastThatHasIt) {
  AddressHolders holders;
  holders.add(1, prefix("10.1.0.254/24"));
  holders.add(1, prefix("10.1.0.254/24"));  // an event may be told twice
  holders.add(2, prefix("10.1.0.254/32"));
  holders.add(2, prefix("10.1.0.254/24"));
  holders.add(3, prefix("10.1.0.253/24"));
  EXPECT_FALSE(holders.remove(2, prefix("10.1.0.254/32")));
  EXPECT_FALSE(holders.remove(1, prefix("10.1.0.254/24")));
  EXPECT_FALSE(holders.remove(1, prefix("10.1.0.254/24")));
  EXPECT_TRUE(holders.remove(2, prefix("10.1.0.254/24")));
  EXPECT_TRUE(holders.remove(2, prefix("10.1.0.254/24"))) << "of one that nobody has";
  EXPECT_TRUE(holders.remove(3, prefix("10.1.0.253/24")));
}

}  // namespace
}  // namespace surety
