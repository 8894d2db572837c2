// SPDX-License-Identifier: BSD-3-Clause
// Traffic of customers: what the rows `flat` and `below` of `surety bench` stand on.
#include "router/daemon/bench/bench_traffic.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>

#include "router/daemon/bench/bench_routes.h"
#include "router/pipeline/wire/headers.h"

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

constexpr MacAddress kMac{{2, 0, 0, 0, 0, 1}};

// What the router makes of it: of a long frame there are the headers only.
ParsedPacket parsed(const BenchFeed& feed, std::uint32_t i, std::size_t length) {
  std::vector<std::uint8_t> frame(length);
  std::ranges::copy(feed.frame(i), frame.begin());
  ParsedPacket h;
  EXPECT_TRUE(parse(frame, {kMac, 0, true, false}, h).forwards()) << i;
  return h;
}

TEST(BenchTraffic, HasTheLengthsByTurns) {
  constexpr std::array<std::uint16_t, 3> kLengths{0, 590, 1514};
  const auto routes = edge_routes(false);
  const BenchFeed feed(
      BenchTraffic{.flows = 6, .destination_mac = kMac, .routes = routes, .dscps = {}, .lengths = kLengths});
  for (const std::uint32_t i : {0u, 3u}) {
    EXPECT_EQ(parsed(feed, i, 60).length, 46);
    EXPECT_EQ(parsed(feed, i + 1, 590).length, 576);
    EXPECT_EQ(parsed(feed, i + 2, 1514).length, 1500);
  }
}

TEST(BenchTraffic, HasOptions) {
  const auto routes = edge_routes(false);
  const BenchFeed feed(
      BenchTraffic{.flows = 2, .destination_mac = kMac, .routes = routes, .dscps = {}, .options = true});
  EXPECT_EQ(feed.frame(1)[14], 0x46);
  EXPECT_EQ(parsed(feed, 1, 60).l4_offset, 14 + 24);
}

TEST(BenchTraffic, IsOfBothFamiliesInTurn) {
  const auto v4 = edge_routes(false), v6 = edge_routes(true);
  const BenchFeed feed(
      BenchTraffic{.flows = 4, .destination_mac = kMac, .routes = v4, .dscps = {}, .other_family = v6});
  for (const std::uint32_t i : {0u, 1u, 2u, 3u}) EXPECT_EQ(parsed(feed, i, 60 + i % 2 * 2).v6, i % 2 == 1);
}

TEST(BenchTraffic, SendsPacketsOfEveryOtherFlowInARow) {
  const auto routes = edge_routes(false);
  const BenchFeed feed(
      BenchTraffic{.flows = 4, .destination_mac = kMac, .routes = routes, .dscps = {}, .in_a_row = 3});
  std::vector<std::uint32_t> flows;
  for (std::uint32_t i = 0; i < 8; ++i) flows.push_back(feed.frame(i)[29]);  // source 10.0.0.n
  EXPECT_EQ(flows, (std::vector<std::uint32_t>{0, 1, 1, 1, 2, 3, 3, 3}));
}

}  // namespace
}  // namespace surety
