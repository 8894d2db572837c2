// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/bench/bench_routes.h"

#include <gtest/gtest.h>

#include <map>

namespace surety {
namespace {

TEST(BenchRoutes, TheEdgesAreOfOneLength) {
  const auto v4 = edge_routes(false);
  ASSERT_EQ(v4.size(), 65536u);
  EXPECT_EQ(to_string(v4.front()), "16.0.0.0/24");
  EXPECT_EQ(to_string(v4.back()), "16.255.255.0/24");
  const auto v6 = edge_routes(true);
  ASSERT_EQ(v6.size(), 65536u);
  EXPECT_EQ(to_string(v6.front()), "2600::/48");
  EXPECT_EQ(to_string(v6[1]), "2600:9e37:79b1::/48");
}

TEST(BenchRoutes, TheCoresHaveTheInternetsLengths) {
  const auto v4 = core_routes(false);
  ASSERT_EQ(v4.size(), 1'000'000u);
  std::map<int, double> share;
  for (const auto& p : v4) share[p.length] += 1.0 / static_cast<double>(v4.size());
  EXPECT_NEAR(share[24], 0.61, 0.002);
  EXPECT_NEAR(share[22], 0.12, 0.002);
  EXPECT_NEAR(share[16], 0.01, 0.002);
  EXPECT_EQ(share.size(), 9u);
}

TEST(BenchRoutes, TheCoresLieSideBySideInUnicastSpace) {
  std::uint64_t end = 1u << 24;
  for (const auto& p : core_routes(false)) {
    const std::uint32_t first = p.address.v4_host_order(), size = 1u << (32 - p.length);
    ASSERT_EQ(first % size, 0u);
    ASSERT_GE(first, end);
    end = std::uint64_t{first} + size;
    ASSERT_LE(end, std::uint64_t{224} << 24);
    for (const std::uint32_t taken : {10u, 16u, 127u, 169u, 172u, 192u}) ASSERT_NE(first >> 24, taken);
  }
}

TEST(BenchRoutes, TheCoresOfIPv6AreMaskedAndApart) {
  const auto v6 = core_routes(true);
  ASSERT_EQ(v6.size(), 200'000u);
  std::map<std::string, int> names;
  for (const auto& p : v6) {
    ASSERT_EQ(p.address.data()[0], 0x2a);
    ASSERT_EQ(p, p.masked());
    ++names[to_string(p)];
  }
  EXPECT_GT(names.size(), 195'000u) << "hardly any of them twice";
}

TEST(BenchRoutes, AreTheSameOnEveryRun) {
  EXPECT_EQ(core_routes(false), core_routes(false));
  EXPECT_EQ(core_routes(true), core_routes(true));
}

}  // namespace
}  // namespace surety
