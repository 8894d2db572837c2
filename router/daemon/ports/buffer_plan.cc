// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/buffer_plan.h"

#include <algorithm>
#include <variant>

#include "aqm/queue_measure.h"
#include "router/daemon/ports/packet_pool.h"
#include "router/pipeline/handover.h"
#include "router/pipeline/port_tree.h"
#include "router/pipeline/rewrite_stage.h"

namespace surety {

namespace {

using Kind = config::Device::Kind;

constexpr std::uint32_t kRing = 2048;      // descriptors that a port has each way (port.cc)
constexpr std::uint32_t kPunted = 1024;    // on their way to the control thread (router.cc)
constexpr std::uint32_t kInjected = 1024;  // on their way from it to a port (fabric.cc)
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

}  // namespace surety
