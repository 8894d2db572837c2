// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/memory_plan.h"

#include <fmt/format.h>
#include <rte_memory.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <variant>

#include "aqm/queue_measure.h"
#include "router/daemon/ports/packet_pool.h"
#include "router/daemon/ports/work_plan.h"
#include "router/pipeline/flows/flow_table.h"
#include "router/pipeline/handover.h"
#include "router/pipeline/port_tree.h"
#include "router/pipeline/rewrite_stage.h"
#include "router/pipeline/routes/fib.h"
#include "router/pipeline/routes/neighbors.h"
#include "router/process/human.h"

namespace surety {

namespace {

using Kind = config::Device::Kind;

constexpr std::uint32_t kRing = 2048;      // descriptors that a port has each way (port.cc)
constexpr std::uint32_t kPunted = 1024;    // on their way to the control thread (router.cc)
constexpr std::uint32_t kInjected = 1024;  // on their way from it to a port (shared.cc)
constexpr std::uint32_t kVectors = 256;    // buffers in use by a thread
constexpr std::uint32_t kLeastHeadroom = 16384, kMostHeadroom = 1 << 18;

// Resident from the start, all of them: the descriptor rings of two more ports, the places that classes bring
// to one (queue_measure.h), and what workers hand over for one more.
std::uint32_t least_paged_headroom(std::size_t workers) {
  return 2 * 3 * kRing + kMostBeyond + static_cast<std::uint32_t>(workers - 1) * 2 * kHandoverSize;
}

std::uint32_t held_by(const config::Port& port, std::size_t workers) {
  switch (port.device.kind) {
    case Kind::none:
      return 0;
    case Kind::af_packet:  // af_packet and memif copy frames, and keep no buffers
    case Kind::memif:
    case Kind::null:
    case Kind::pcap:
      return 256;
    case Kind::af_xdp:
      // Per queue: buffers in the kernel to receive into, frames to be sent, and sent ones to be reclaimed.
      // The driver replaces each received buffer, so there are never more.
      return port.rx_queues.value_or(1) * 3 * kRing;
    default:
      // A ring for each reader, one to send, and as many buffers again to be reclaimed.
      return std::max<std::uint32_t>(3, port.rx_queues.value_or(static_cast<unsigned>(workers)) + 2) * kRing *
             2;
  }
}

std::uint32_t queued(const config::Config& c, std::size_t port) {
  if (const std::uint32_t tree = PortTree::packets(c, port); tree > 0) return tree;
  std::uint32_t n = 0;
  for (const auto& q : at_rate(c.set_of(c.ports[port].queues), c.ports[port].shaper.rate).classes)
    n += QueueMeasure(q.scheduling.queue).places();
  return n;
}

// The longest input buffer of a service, for one flow; 0: no service holds packets.
std::uint32_t longest_input_buffer(const config::Config& c) {
  std::uint32_t longest = 0;
  for (const auto& s : c.services)
    if (const auto* csa = std::get_if<config::Csa>(&s.conditioner))
      longest = std::max(longest, csa->bucket.buffer);
  return std::min(longest, c.flow_table.held_packets);
}

}  // namespace

BufferNeeds buffer_needs(const config::Config& c, std::size_t workers) {
  const auto threads = static_cast<std::uint32_t>(workers);
  std::uint32_t ports = 0;
  BufferNeeds n;
  for (std::size_t p = 0; p < c.ports.size(); ++p) {
    if (!c.ports[p].exists()) continue;
    ++ports;
    n.devices += held_by(c.ports[p], workers);
    n.queues += queued(c, p);
  }
  if (longest_input_buffer(c) > 0) n.held = threads * c.flow_table.held_packets;
  n.between = kPunted + ports * kInjected + (threads - 1) * ports * 2 * kHandoverSize +
              threads * ports * PendingPackets::kPerPort;
  n.working = (threads + 1) * (kVectors + kPoolCache * 3 / 2);
  return n;
}

std::uint32_t least_buffers(const config::Config& c, std::size_t workers) {
  const BufferNeeds n = buffer_needs(c, workers);
  return n.total() - n.held + static_cast<std::uint32_t>(workers) * longest_input_buffer(c);
}

std::uint32_t held_within(const config::Config& c, std::size_t workers, std::uint32_t buffers) {
  const BufferNeeds n = buffer_needs(c, workers);
  const std::uint32_t others = n.total() - n.held;
  if (n.held == 0 || buffers >= n.total()) return c.flow_table.held_packets;
  return (buffers - std::min(buffers, others)) / static_cast<std::uint32_t>(workers);
}

PoolPlan plan_pool(const config::Config& c, std::size_t workers, bool hugepages) {
  const BufferNeeds n = buffer_needs(c, workers);
  const auto with_headroom = [&](std::uint32_t needed, std::uint32_t least) {
    return std::max(needed + std::clamp(needed / 4, least, kMostHeadroom), c.dpdk.mbufs);
  };
  if (hugepages) {
    const std::uint32_t all = with_headroom(n.total() - n.held + c.flow_table.held_packets, kLeastHeadroom);
    return {all, all};
  }
  if (paged_buffers(c)) {
    const std::uint32_t all = with_headroom(n.total(), least_paged_headroom(workers));
    return {all, all};
  }
  const std::uint32_t start = with_headroom(n.total(), kLeastHeadroom),
                      held_later = static_cast<std::uint32_t>(workers) * c.flow_table.held_packets - n.held;
  return {start, start + held_later + std::min(start, kMostHeadroom)};
}

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
