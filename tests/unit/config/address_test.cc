// SPDX-License-Identifier: BSD-3-Clause
#include "config/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace surety {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

IpAddress address(const char* text) {
  return parse_address(text).value();
}
Prefix prefix(const char* text) {
  return parse_prefix(text).value();
}

TEST(Address, ThereAndBack) {
  for (const auto* text :
       {"0.0.0.0", "10.1.0.254", "255.255.255.255", "::", "::1", "2001:db8:1::fe", "fe80::1"}) {
    EXPECT_EQ(to_string(address(text)), text);
  }
}

TEST(Address, BytesAreThoseOfAPacket) {
  const IpAddress four = address("10.1.2.3"), six = address("2001:db8::fe");
  EXPECT_THAT(four.bytes(), ElementsAre(10, 1, 2, 3));
  EXPECT_THAT(six.bytes(), ElementsAre(0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xfe));
  EXPECT_EQ(IpAddress::load(four.data(), false), four);
  EXPECT_EQ(IpAddress::load(six.data(), true), six);
  EXPECT_EQ(IpAddress::v4(10, 1, 2, 3), four);
  EXPECT_EQ(four.v4_host_order(), 0x0a010203u);
  EXPECT_EQ(four.bits(), 32);
  EXPECT_EQ(six.bits(), 128);
}

TEST(Address, NothingIsSaidAsZerosOfEitherFamily) {
  EXPECT_EQ(IpAddress{}, address("0.0.0.0"));
  EXPECT_EQ(IpAddress::unspecified(false), address("0.0.0.0"));
  EXPECT_EQ(IpAddress::unspecified(true), address("::"));
}

TEST(Address, OrderIsFamilyThenBytes) {
  std::vector<std::string> texts = {
      "0.0.0.0", "10.0.0.2", "10.0.1.0", "192.0.2.1", "::", "::1", "::1:0", "2001:db8::", "ff02::1"};
  std::vector<IpAddress> sorted;
  for (const auto& t : texts) sorted.push_back(address(t.c_str()));
  std::vector<IpAddress> shuffled(sorted.rbegin(), sorted.rend());
  std::sort(shuffled.begin(), shuffled.end());
  EXPECT_THAT(shuffled, ElementsAreArray(sorted));
}

// An IpAddress holds IPv4 so: the two could not be told apart.
TEST(Address, RefusesIpv4MappedIpv6) {
  for (const auto* text : {"::ffff:10.1.2.3", "::ffff:0:0", "0:0:0:0:0:FFFF:a01:203"})
    EXPECT_FALSE(parse_address(text)) << text;
  EXPECT_FALSE(parse_prefix("::ffff:0:0/96"));
  for (const auto* text : {"::fffe:a01:203", "::1:ffff:a01:203", "::ffff:0:a01:203"})
    EXPECT_EQ(to_string(address(text)), text);
}

TEST(Address, RefusesWhatIsNone) {
  for (const auto* text : {"", "10.1.0", "10.1.0.256", "10.1.0.1.1", "10.1.0.1 ", "010.1.0.1x", "2001:db8",
                           "::1%eth0", "1::2::3"}) {
    EXPECT_FALSE(parse_address(text)) << text;
  }
  EXPECT_FALSE(parse_address(std::string_view("10.1.0.1\0", 9)));
}

TEST(Prefix, KeepsHostBitsUntilMasked) {
  EXPECT_EQ(to_string(prefix("10.1.2.254/20")), "10.1.2.254/20");
  EXPECT_EQ(to_string(prefix("10.1.2.254/20").masked()), "10.1.0.0/20");
  EXPECT_EQ(to_string(prefix("10.1.2.254/0").masked()), "0.0.0.0/0");
  EXPECT_EQ(to_string(prefix("10.1.2.254/32").masked()), "10.1.2.254/32");
  EXPECT_EQ(to_string(prefix("2001:db8:ffff::1/33").masked()), "2001:db8:8000::/33");
  EXPECT_EQ(to_string(prefix("2001:db8::1/128").masked()), "2001:db8::1/128");
}

TEST(Prefix, ContainsItsOwnFamilyOnly) {
  EXPECT_TRUE(prefix("10.1.2.254/23").contains(address("10.1.3.1")));
  EXPECT_FALSE(prefix("10.1.2.254/23").contains(address("10.1.4.1")));
  EXPECT_TRUE(prefix("0.0.0.0/0").contains(address("203.0.113.1")));
  EXPECT_FALSE(prefix("0.0.0.0/0").contains(address("::1")));
  EXPECT_TRUE(prefix("2001:db8::/32").contains(address("2001:db8:ffff::1")));
  EXPECT_FALSE(prefix("::/0").contains(address("203.0.113.1")));
  EXPECT_FALSE(prefix("::/80").contains(address("203.0.113.1")));
  EXPECT_TRUE(prefix("::/80").contains(address("::1")));
}

TEST(Prefix, RefusesWhatIsNone) {
  for (const auto* text :
       {"10.1.0.0", "10.1.0.0/", "10.1.0.0/33", "::/129", "10.1.0.0/-1", "10.1.0.0/8x", "/8", "10.1/16"}) {
    EXPECT_FALSE(parse_prefix(text)) << text;
  }
}

TEST(Mac, ThereAndBack) {
  EXPECT_EQ(to_string(parse_mac("02:00:5E:00:ff:01").value()), "02:00:5e:00:ff:01");
  for (const auto* text : {"", "02:00:5e:00:ff", "02-00-5e-00-ff-01", "02:00:5e:00:ff:0g",
                           "02:00:5e:00:ff:011", "+2:00:5e:00:ff:01"}) {
    EXPECT_FALSE(parse_mac(text)) << text;
  }
}

TEST(Unicast, ExcludesWhatNoStationHas) {
  for (const auto* text : {"10.1.0.1", "223.255.255.254", "2001:db8::1", "fe80::1", "::2"})
    EXPECT_TRUE(is_unicast(address(text))) << text;
  for (const auto* text : {"0.0.0.0", "127.0.0.1", "224.0.0.1", "255.255.255.255", "::", "::1", "ff02::1"}) {
    EXPECT_FALSE(is_unicast(address(text))) << text;
  }
  EXPECT_TRUE(is_link_local_v6(address("febf::1")));
  EXPECT_FALSE(is_link_local_v6(address("fec0::1")));
  EXPECT_FALSE(is_link_local_v6(address("169.254.0.1")));
}

TEST(ReservedName, NetworkAndBroadcastOfIpv4) {
  EXPECT_EQ(reserved_name(prefix("10.1.0.0/24")), "network");
  EXPECT_EQ(reserved_name(prefix("10.1.15.255/20")), "broadcast");
  EXPECT_EQ(reserved_name(prefix("10.1.0.1/30")), "");
  EXPECT_EQ(reserved_name(prefix("10.1.0.0/31")), "");
  EXPECT_EQ(reserved_name(prefix("10.1.0.0/32")), "");
  EXPECT_EQ(reserved_name(prefix("2001:db8::/64")), "");
}

}  // namespace
}  // namespace surety
