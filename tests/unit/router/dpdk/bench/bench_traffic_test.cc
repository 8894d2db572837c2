// SPDX-License-Identifier: BSD-3-Clause
// Traffic of customers: what the rows `flat` and `below` of `surety bench` stand on.
#include "router/dpdk/bench/bench_traffic.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>

#include "router/dpdk/bench/bench_routes.h"

namespace surety {
namespace {

TEST(BenchInterfaces, HaveTagsOfTheirOwn) {
  for (const std::uint32_t flows : {2'000u, 20'000u, 128'000u, 1'000'000u}) {
    const BenchInterfaces interfaces = bench_interfaces("below", flows);
    EXPECT_EQ(interfaces.count, std::min(flows / 2, 64'000u));
    std::set<std::pair<std::uint32_t, std::uint32_t>> tags;
    for (std::uint32_t i = 0; i < interfaces.count; ++i) {
      ASSERT_LE(interfaces.inner(i), 4000u);
      ASSERT_LE(interfaces.outer(i), 4094u);
      tags.emplace(interfaces.outer(i), interfaces.inner(i));
    }
    EXPECT_EQ(tags.size(), interfaces.count);
  }
}

TEST(BenchInterfaces, OfCustomersAreAsManyInEachGroup) {
  for (const std::uint32_t flows : {2'000u, 20'000u, 128'000u}) {
    const BenchInterfaces interfaces = bench_interfaces("flat", flows);
    std::map<std::uint32_t, std::uint32_t> of_group;
    for (std::uint32_t i = 0; i < interfaces.count; ++i)
      ++of_group[(interfaces.outer(i) - 100) % BenchInterfaces::kGroups];
    ASSERT_EQ(of_group.size(), BenchInterfaces::kGroups);
    for (const auto& [group, count] : of_group) EXPECT_EQ(count, interfaces.count / 8) << group;
  }
}

TEST(BenchInterfaces, AreNoneOfOtherPaths) {
  EXPECT_EQ(bench_interfaces("everything", 1000).count, 0u);
  EXPECT_EQ(bench_interfaces("access-up", 1000).count, 1000u);
}

// Each destination once with the one DSCP and then once with the other.
TEST(BenchTraffic, OfCustomersGoesToEachInTwoClasses) {
  constexpr std::uint32_t kSpread = 1000;
  const auto routes = edge_routes(false);
  const std::vector<config::Dscp> dscps{0, 18};
  const BenchFeed feed(
      BenchTraffic{.flows = 2 * kSpread, .routes = routes, .dscps = dscps, .spread = kSpread});
  std::map<std::uint8_t, std::set<std::uint32_t>> routes_of;
  for (std::uint32_t i = 0; i < 2 * kSpread; ++i) {
    const auto frame = feed.frame(i);
    routes_of[frame[15] >> 2].insert(
        static_cast<std::uint32_t>(frame[30] << 16 | frame[31] << 8 | frame[32]));
  }
  ASSERT_EQ(routes_of.size(), 2u);
  EXPECT_EQ(routes_of[0].size(), kSpread);
  EXPECT_EQ(routes_of[0], routes_of[18]);
}

}  // namespace
}  // namespace surety
