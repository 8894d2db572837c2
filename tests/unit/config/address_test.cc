// SPDX-License-Identifier: BSD-3-Clause
#include "config/address.h"

#include <gtest/gtest.h>

namespace surety::config {
namespace {

Address address(const char* text) {
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
  EXPECT_EQ(address("10.1.2.3").bytes[3], 3);
  EXPECT_FALSE(address("10.1.2.3").v6);
  EXPECT_TRUE(address("::ffff:10.1.2.3").v6);
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
}  // namespace surety::config
