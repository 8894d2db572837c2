// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/memory_plan.h"

#include <gtest/gtest.h>
#include <rte_memory.h>

#include <algorithm>

#include "tests/unit/router/daemon/ports/two_ports.h"

namespace surety {
namespace {

MemoryPlan::Part part(const MemoryPlan& plan, const std::string& name) {
  const auto at = std::ranges::find(plan.parts, name, &MemoryPlan::Part::name);
  return at == plan.parts.end() ? MemoryPlan::Part{} : *at;
}

TEST(MemoryPlan, BuffersLieEndToEndUnlessTheKernelReceivesIntoThem) {
  const auto copied = plan_memory(two_ports(config::Device::Kind::memif), 1);
  // What may come has its place in the ring and in DPDK's list of pages.
  EXPECT_EQ(part(copied, "packet buffers").start,
            23'504u * 2368 + 65'536 * 8 + 63'392u * 2368 / 4096 * sizeof(rte_memseg));
  EXPECT_GT(part(copied, "packet buffers").most, 63'392u * 2368);
  const auto paged = plan_memory(two_ports(config::Device::Kind::af_xdp), 1);
  EXPECT_EQ(part(paged, "packet buffers").start, 33'232u * 4096 + 65'536 * 8 + 33'232u * sizeof(rte_memseg));
  EXPECT_EQ(part(paged, "packet buffers").most, part(paged, "packet buffers").start);
}

TEST(MemoryPlan, TablesAreOfTheSizeThatIsConfigured) {
  auto c = two_ports(config::Device::Kind::memif);
  const auto before = plan_memory(c, 1);
  EXPECT_EQ(part(before, "flow tables").start, 65'537u * 112 + 13'108 * 64);
  c.flow_table.capacity = 1000;
  c.dpdk.max_routes = 1000;
  const auto after = plan_memory(c, 1);
  EXPECT_EQ(part(after, "flow tables").start, 1001u * 112 + 200 * 64);
  EXPECT_EQ(part(after, "FIB IPv4").start, 2u * 1000 * 136);
  EXPECT_LT(after.most(), before.most());
  EXPECT_EQ(part(plan_memory(c, 2), "flow tables").start, 2 * part(after, "flow tables").start);
}

TEST(MemoryPlan, ASmallRouterHasItsPlace) {
  for (const auto kind : {config::Device::Kind::null, config::Device::Kind::memif,
                          config::Device::Kind::af_packet, config::Device::Kind::af_xdp})
    EXPECT_LT(plan_memory(two_ports(kind), 1).start(), 200'000'000u);
}

TEST(MemoryPlan, IsATableThatEndsInItsSum) {
  const MemoryPlan plan{{{"one", "for this", 1'000'000, 2'000'000}, {"other", "for that", 500'000, 500'000}}};
  EXPECT_EQ(plan.text(),
            "memory  at start    full  for\n"
            "one       1.0 MB  2.0 MB  for this\n"
            "other     0.5 MB  0.5 MB  for that\n"
            "all       1.5 MB  2.5 MB  without hugepages; see `dpdk` and `flow_table`\n");
}

}  // namespace
}  // namespace surety
