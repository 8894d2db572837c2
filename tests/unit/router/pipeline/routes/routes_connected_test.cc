// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/routes.h"

#include <gtest/gtest.h>

#include "tests/unit/router/pipeline/routes/table_sink.h"

namespace surety {
namespace {

using Lines = std::vector<std::string>;

Lines lines(const std::vector<OwnAddress>& addresses) {
  Lines out;
  for (const auto& [p, route] : connected_routes(addresses)) {
    const char* const kinds[] = {"local", "blackhole", "subnet"};
    out.push_back(to_string(p) + " " + kinds[static_cast<int>(route.kind)]);
    if (route.kind == ConnectedRoute::Kind::subnet) out.back() += " " + std::to_string(route.interface);
  }
  return out;
}

TEST(Connected, Ipv4Subnet) {
  EXPECT_EQ(lines({{prefix("10.1.0.254/24"), 2}}), (Lines{"10.1.0.0/24 subnet 2", "10.1.0.0/32 blackhole",
                                                          "10.1.0.254/32 local", "10.1.0.255/32 blackhole"}));
}

TEST(Connected, Ipv6SubnetWithItsAnycastAddress) {
  EXPECT_EQ(lines({{prefix("2001:db8:1::fe/64"), 1}}),
            (Lines{"2001:db8:1::/64 subnet 1", "2001:db8:1::/128 local", "2001:db8:1::fe/128 local"}));
}

TEST(Connected, PointToPointSubnetsHaveNoSpecialAddresses) {
  EXPECT_EQ(lines({{prefix("10.0.0.1/31"), 0}}), (Lines{"10.0.0.0/31 subnet 0", "10.0.0.1/32 local"}));
  EXPECT_EQ(lines({{prefix("2001:db8::/127"), 0}}),
            (Lines{"2001:db8::/127 subnet 0", "2001:db8::/128 local"}));
  EXPECT_EQ(lines({{prefix("10.0.0.1/30"), 0}}), (Lines{"10.0.0.0/30 subnet 0", "10.0.0.0/32 blackhole",
                                                        "10.0.0.1/32 local", "10.0.0.3/32 blackhole"}));
}

TEST(Connected, HostAddressesAreLocalOnly) {
  EXPECT_EQ(lines({{prefix("192.0.2.1/32"), 0}, {prefix("2001:db8::1/128"), 0}}),
            (Lines{"192.0.2.1/32 local", "2001:db8::1/128 local"}));
}

TEST(Connected, OtherInterfacesGiveTheirAddressOnly) {
  EXPECT_EQ(lines({{prefix("192.168.1.1/24"), {}}}), (Lines{"192.168.1.1/32 local"}));
}

TEST(Connected, LinkLocalGivesNothing) {
  EXPECT_EQ(lines({{prefix("fe80::1/64"), 0}}), Lines{});
}

TEST(Connected, LocalBeatsBlackholeBeatsSubnetBeatsHigherPort) {
  // 10.0.0.255 is a host of the /23 and the broadcast address of the /24.
  const Lines expected{"10.0.0.0/23 subnet 0", "10.0.0.0/24 subnet 1", "10.0.0.0/32 blackhole",
                       "10.0.0.1/32 local",    "10.0.0.255/32 local",  "10.0.1.255/32 blackhole"};
  const std::vector<OwnAddress> both{
      {prefix("10.0.0.255/23"), 0}, {prefix("10.0.0.1/24"), 1}, {prefix("10.0.0.1/24"), 2}};
  EXPECT_EQ(lines(both), expected);
  EXPECT_EQ(lines({both.rbegin(), both.rend()}), expected);
}

TEST(Connected, PortOfTheLongestSubnet) {
  const auto routes = connected_routes(
      {{prefix("10.0.0.1/8"), 0}, {prefix("10.1.0.1/16"), 1}, {prefix("2001:db8::1/64"), 2}});
  EXPECT_EQ(connected_interface(routes, address("10.1.0.9")), 1);
  EXPECT_EQ(connected_interface(routes, address("10.1.0.1")), 1) << "an own address has no port of its own";
  EXPECT_EQ(connected_interface(routes, address("10.2.0.9")), 0);
  EXPECT_EQ(connected_interface(routes, address("11.0.0.1")), std::nullopt);
  EXPECT_EQ(connected_interface(routes, address("2001:db8::9")), 2);
  EXPECT_EQ(connected_interface(routes, address("fe80::1")), std::nullopt);
}

}  // namespace
}  // namespace surety
