// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/paths.h"

#include <gtest/gtest.h>

namespace surety {
namespace {

// The path of an address that takes a route.
std::string path(const char* route, const char* address) {
  const RouteTarget target = target_of(parse_prefix(route).value(), {7, 1});
  return to_string(path_of(parse_address(address).value(), target.narrowness));
}

TEST(Paths, ANarrowRouteIsAPath) {
  EXPECT_EQ(path("10.2.3.0/24", "10.2.3.4"), "10.2.3.0/24");
  EXPECT_EQ(path("10.2.3.0/29", "10.2.3.4"), "10.2.3.0/29");
  EXPECT_EQ(path("10.2.3.4/32", "10.2.3.4"), "10.2.3.4/32");
  EXPECT_EQ(path("2001:db8:1::/48", "2001:db8:1::4"), "2001:db8:1::/48");
  EXPECT_EQ(path("2001:db8:1:2::/64", "2001:db8:1:2::4"), "2001:db8:1:2::/64");
  EXPECT_EQ(path("2001:db8::4/128", "2001:db8::4"), "2001:db8::4/128");
}

TEST(Paths, AWideRouteHasMany) {
  for (const char* route : {"0.0.0.0/0", "10.0.0.0/8", "10.2.0.0/23"})
    EXPECT_EQ(path(route, "10.2.1.4"), "10.2.1.0/24") << route;
  for (const char* route : {"::/0", "2001:db8::/32", "2001:db8::/47"})
    EXPECT_EQ(path(route, "2001:db8:1:2::4"), "2001:db8:1::/48") << route;
}

TEST(Paths, TheFibKeepsHowNarrowARouteIs) {
  for (const char* route : {"::/0", "10.0.0.1/32", "2001:db8::1/128"})
    for (const RouteTarget plain :
         {RouteTarget{0, 1}, RouteTarget{RouteTarget::kMaxFirst, RouteTarget::kMaxCount}}) {
      const RouteTarget target = target_of(parse_prefix(route).value(), plain);
      EXPECT_EQ(RouteTarget::decode(target.encode()), target) << route;
      EXPECT_LT(target.encode(), 1u << 30) << route;
    }
}

}  // namespace
}  // namespace surety
