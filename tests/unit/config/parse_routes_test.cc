// SPDX-License-Identifier: BSD-3-Clause
// Metrics of static routes, and gateways of another address family.
#include <gtest/gtest.h>

#include "config/address.h"
#include "config/parse.h"
#include "tests/unit/config/parsed.h"

namespace surety::config {
namespace {

TEST(ParseRoutes, FloatingStaticRoutesHaveMetrics) {
  const auto c = parsed(
      "routes:\n"
      "  - {to: 0.0.0.0/0, via: 10.0.0.2}\n"
      "  - {to: 0.0.0.0/0, via: 10.0.0.3, metric: 250}\n"
      "  - {to: 0.0.0.0/0, blackhole: true, metric: 4294967295}\n");
  ASSERT_EQ(c.routes.size(), 3u);
  EXPECT_EQ(c.routes[0].metric, 1u);
  EXPECT_EQ(c.routes[1].metric, 250u);
  EXPECT_EQ(c.routes[2].metric, 4294967295u);
}

TEST(ParseRoutes, Ipv4GoesByGatewaysOfIpv6) {
  const auto c = parsed("routes: [{to: 198.51.100.0/24, via: ['fe80::1', 10.0.0.2], port: a}]\n");
  ASSERT_EQ(c.routes.size(), 1u);
  ASSERT_EQ(c.routes[0].next_hops.size(), 2u);
  EXPECT_EQ(to_string(c.routes[0].next_hops[0].via.value()), "fe80::1");
  EXPECT_EQ(c.routes[0].next_hops[0].port, 0u);
}

}  // namespace
}  // namespace surety::config
