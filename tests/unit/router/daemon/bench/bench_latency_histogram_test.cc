// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/bench/bench_latency.h"

#include <gtest/gtest.h>

namespace surety {
namespace {

TEST(BenchHistogram, OfNothing) {
  const BenchHistogram h;
  EXPECT_EQ(h.count(), 0u);
  EXPECT_EQ(h.quantile(0.5), 0u);
  EXPECT_EQ(h.longest(), 0u);
  EXPECT_EQ(h.above(0), 0u);
}

TEST(BenchHistogram, IsExactForShortTimes) {
  BenchHistogram h;
  for (std::uint64_t i = 0; i < 100; ++i) h.add(i);
  EXPECT_EQ(h.count(), 100u);
  EXPECT_EQ(h.quantile(0), 0u);
  EXPECT_EQ(h.quantile(0.5), 50u);
  EXPECT_EQ(h.quantile(0.99), 99u);
  EXPECT_EQ(h.quantile(1), 99u);
  EXPECT_EQ(h.above(97), 2u);
}

TEST(BenchHistogram, IsRightTo16PermilleForLongOnes) {
  for (const std::uint64_t v : {127u, 128u, 129u, 1000u, 65535u, 65536u, 100'000'000u}) {
    BenchHistogram h;
    h.add(v);
    h.add(std::uint64_t{1} << 34);
    const std::uint64_t median = h.quantile(0.25);
    EXPECT_GE(median, v);
    EXPECT_LE(median, v + v / 64);
    EXPECT_EQ(h.above(2 * v), 1u);
  }
}

TEST(BenchHistogram, KeepsTheLongestHoweverLong) {
  BenchHistogram h;
  h.add(std::uint64_t{1} << 50);
  h.add(5);
  EXPECT_EQ(h.longest(), std::uint64_t{1} << 50);
  EXPECT_EQ(h.quantile(0.1), 5u);
  EXPECT_EQ(h.count(), 2u);
}

}  // namespace
}  // namespace surety
