// SPDX-License-Identifier: BSD-3-Clause
#include "router/dpdk/ports/eal.h"

#include <gtest/gtest.h>

#include <numeric>

#include "router/dpdk/ports/work_plan.h"

namespace surety {
namespace {

constexpr std::uint64_t kPage = 2 << 20;

config::Config ports(std::size_t n) {
  config::Config c;
  c.ports.resize(n);
  return c;
}

TEST(Eal, TheRingsBetweenWorkersHaveTheirBuffers) {
  const config::Config c = ports(4);
  EXPECT_GE(mbuf_count(c, 8) - mbuf_count(c, 1), 7 * 4 * 2 * (kHandoverSize - 1));
}

// Each worker has a ring of signals to each other one.
TEST(Eal, ManyWorkersHaveMemoryForTheirRings) {
  const config::Config c = ports(8);
  constexpr std::uint64_t buffer = 2048 + 128 + 128 + 64;
  const std::uint64_t buffers = buffer * (mbuf_count(c, 64) - mbuf_count(c, 1));
  const std::uint64_t signals = 64 * 63 * kSignalRingSize * sizeof(CongestionSignal);
  EXPECT_GE(eal_memory_bytes(c, 64, kPage) - eal_memory_bytes(c, 1, kPage), buffers + signals);
  EXPECT_LT(fabric_bytes(1, 8), 1u << 20) << "one worker has next to none";
}

TEST(Eal, AllCoresButTheFirstWorkByDefault) {
  EXPECT_EQ(default_workers({3}), std::vector<unsigned>{3});
  EXPECT_EQ(default_workers({0, 1, 4}), (std::vector<unsigned>{1, 4}));
  std::vector<unsigned> many(200);
  std::iota(many.begin(), many.end(), 0u);
  const auto workers = default_workers(many);
  ASSERT_EQ(workers.size(), kMaxWorkers);
  EXPECT_EQ(workers.front(), 1u);
}

}  // namespace
}  // namespace surety
