// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/eal.h"

#include <gtest/gtest.h>

#include <numeric>

#include "router/daemon/ports/memory_plan.h"
#include "router/daemon/ports/work_plan.h"

namespace surety {
namespace {

constexpr std::uint64_t kPage = 2 << 20;

config::Config ports(std::size_t n) {
  config::Config c;
  c.ports.resize(n);
  for (auto& p : c.ports) p.name = "port";
  return c;
}

TEST(Eal, TheRingsBetweenWorkersHaveTheirBuffers) {
  const config::Config c = ports(4);
  EXPECT_GE(least_buffers(c, 8) - least_buffers(c, 1), 7 * 4 * 2 * (kHandoverSize - 1));
}

// With hugepages a pool does not grow: what a reload may add to the queues is there from the start.
TEST(Eal, APoolHasRoomForLargerQueues) {
  const auto size = [](const config::Config& some) { return plan_pool(some, 1, true).start; };
  config::Config c = ports(1);
  c.ports[0].queues = 0;
  c.queues.resize(1);
  c.queues[0].classes.resize(1);
  std::uint32_t& limit = c.queues[0].classes[0].scheduling.queue.limit;
  const auto needs = [&] { return least_buffers(c) + c.flow_table.held_packets; };
  limit = 64;
  const std::uint32_t small = size(c);
  EXPECT_GE(small, needs() + 16384);
  limit = 65;
  EXPECT_LE(least_buffers(c), small);
  limit = 500'000;
  EXPECT_GT(least_buffers(c), small);
  EXPECT_EQ(size(c) - needs(), needs() / 4) << "a quarter";
  limit = 10'000'000;
  EXPECT_EQ(size(c) - needs(), 1u << 18) << "at most";
  c.dpdk.mbufs = 40'000'000;
  EXPECT_EQ(size(c), 40'000'000u) << "what it has been given is enough";
}

// Each worker has a ring of signals to each other one.
TEST(Eal, ManyWorkersHaveMemoryForTheirRings) {
  const config::Config c = ports(8);
  constexpr std::uint64_t buffer = 2048 + 128 + 128 + 64;
  const std::uint64_t buffers = buffer * (least_buffers(c, 64) - least_buffers(c, 1));
  const std::uint64_t signals = 64 * 63 * kSignalRingSize * sizeof(CongestionSignal);
  EXPECT_GE(eal_memory_bytes(c, 64, kPage) - eal_memory_bytes(c, 1, kPage), buffers + signals);
  EXPECT_LT(fabric_bytes(1, 8), 1u << 20) << "one worker has next to none";
}

TEST(Eal, OpensTheDevicesOfItsPortsAlone) {
  using Words = std::vector<std::string>;
  config::Config c = ports(2);
  EXPECT_EQ(device_list(c, false), Words{"--no-pci"});
  c.ports[1].device.kind = config::Device::Kind::pci;
  c.ports[1].device.name = "0000:02:00.0";
  EXPECT_EQ(device_list(c, false), (Words{"--allow", "0000:00:00.0", "--allow", "0000:02:00.0"}));
  EXPECT_EQ(device_list(c, true), (Words{"--allow", "0000:00:00.0"})) << "the old process has it";
  c.dpdk.extra = {"--block=0000:03:00.0"};
  EXPECT_EQ(device_list(c, false), Words{});
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
