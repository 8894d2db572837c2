// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/memory_plan.h"

#include <fmt/format.h>
#include <rte_memory.h>

#include <bit>
#include <numeric>

#include "router/daemon/ports/buffer_plan.h"
#include "router/daemon/ports/packet_pool.h"
#include "router/daemon/ports/work_plan.h"
#include "router/pipeline/flows/flow_table.h"
#include "router/pipeline/routes/fib.h"
#include "router/pipeline/routes/neighbors.h"
#include "router/process/human.h"
#include "router/process/text_table.h"

namespace surety {

namespace {

// A router without ports, customers and routes: code and libraries, DPDK's and our own fixed tables, the
// threads for metrics. Measured: 42 MB on Debian 12, 45 MB on Debian 13.
constexpr std::uint64_t kProgram = 43'000'000;
constexpr std::uint64_t kWorker = 4'000'000;  // stages, counters of interfaces, and a share of the program
constexpr std::uint64_t kRoute = 100;         // in the Rib, its bucket included
constexpr std::uint64_t kSmallPage = 4096;

MemoryPlan::Part fixed(std::string name, std::string what, std::uint64_t bytes) {
  return {std::move(name), std::move(what), bytes, bytes};
}

// `buffers` of a pool that may grow to `most`, with the pool's ring and DPDK's bookkeeping of all possible
// pages.
std::uint64_t buffers_bytes(const config::Config& c, std::uint64_t buffers, std::uint64_t most) {
  return buffers * buffer_bytes(c) + std::bit_ceil(most + 1) * sizeof(void*) +
         most * buffer_bytes(c) / kSmallPage * sizeof(rte_memseg);
}

std::string mega(std::uint64_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

}  // namespace

MemoryPlan plan_memory(const config::Config& c, std::size_t workers) {
  MemoryPlan plan;
  auto& parts = plan.parts;
  const BufferNeeds needs = buffer_needs(c, workers);
  const std::uint64_t routes = c.dpdk.max_routes;
  const PoolPlan pool = plan_pool(c, workers);
  parts.push_back(
      {"packet buffers",
       fmt::format("{} of {} B: devices {}, queues {}, held {}, between threads {}, working {}, spare {}; "
                   "reloads may raise them to {}",
                   pool.start, buffer_bytes(c), needs.devices, needs.queues, needs.held, needs.between,
                   needs.working, pool.start - needs.total(), pool.most),
       buffers_bytes(c, pool.start, pool.most), buffers_bytes(c, pool.most, pool.most)});
  parts.push_back(fixed("flow tables", fmt::format("{} flows in each of {}", c.flow_table.capacity, workers),
                        workers * FlowTable::bytes(c.flow_table.capacity)));
  if (routes > 0) {
    const Fib::Resident fib = Fib::resident(c.dpdk.max_routes);
    const std::string upto = fmt::format("up to {} routes", routes);
    parts.push_back({"FIB IPv4", upto, fib.least4, fib.most4});
    parts.push_back({"FIB IPv6", upto, fib.least6, fib.most6});
    parts.push_back({"routes", upto + " of each family, with their sources", 0, 2 * routes * kRoute});
  }
  parts.push_back(fixed("next hops",
                        fmt::format("{} of them, with neighbors", NextHopTable::kDefaultCapacity),
                        NextHopTable::kDefaultCapacity * 16));
  parts.push_back(fixed("rings", fmt::format("between {} workers, for {} ports", workers, c.ports.size()),
                        fabric_bytes(workers, c.ports.size())));
  parts.push_back(
      fixed("queues", fmt::format("room for {} packets", needs.queues), needs.queues * std::uint64_t{16}));
  parts.push_back(
      fixed("program", fmt::format("code, libraries, {} workers", workers), kProgram + workers * kWorker));
  return plan;
}

std::uint64_t MemoryPlan::start() const {
  return std::accumulate(parts.begin(), parts.end(), std::uint64_t{0},
                         [](std::uint64_t n, const Part& p) { return n + p.start; });
}

std::uint64_t MemoryPlan::most() const {
  return std::accumulate(parts.begin(), parts.end(), std::uint64_t{0},
                         [](std::uint64_t n, const Part& p) { return n + p.most; });
}

std::string MemoryPlan::text() const {
  TextTable table;
  table.column("memory", TextTable::Align::left);
  table.column("at start", TextTable::Align::right);
  table.column("full", TextTable::Align::right);
  table.column("for", TextTable::Align::left);
  for (const Part& p : parts) table.row({p.name, mega(p.start), mega(p.most), p.what});
  table.row({"all", mega(start()), mega(most()), "without hugepages; see `dpdk` and `flow_table`"});
  return table.text();
}

std::string MemoryPlan::summary() const {
  return fmt::format("memory planned: start_mb={:.1f} full_mb={:.1f}; `surety check` lists the parts",
                     static_cast<double>(start()) / 1e6, static_cast<double>(most()) / 1e6);
}

}  // namespace surety
