// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/packet_disposal.h"

#include <algorithm>

#include "router/pipeline/routes/route_events.h"

namespace surety {

namespace {

// The drop reason of an exception that cannot be handed to the kernel.
DropReason without_kernel(PuntReason reason) {
  switch (reason) {
    case PuntReason::ttl:
      return DropReason::ttl_exceeded;
    case PuntReason::mtu:
      return DropReason::mtu_exceeded;
    case PuntReason::neighbor:
      return DropReason::neighbor_unresolved;
    default:
      return DropReason::no_kernel_peer;
  }
}

// True if the control thread handles the reason for any ingress port; packets addressed to a port need that
// port's own device.
bool any_kernel_will_do(PuntReason reason) {
  return reason == PuntReason::ttl || reason == PuntReason::mtu || reason == PuntReason::neighbor ||
         reason == PuntReason::local;
}

// True for packets without a flow, which one worker receives.
bool has_no_flow(PuntReason reason) {
  return reason == PuntReason::arp || reason == PuntReason::control;
}

// Packets per second, over all workers: a rate at which a kernel or a control thread keeps up with its other
// work; ten times the needs of a large site's own protocols. Errors are sent to 1,000 senders per second
// (icmp_error.h).
std::uint32_t per_second(PuntReason reason) {
  switch (reason) {
    case PuntReason::local:
      return 20'000;  // includes operators' sessions and routing protocols
    case PuntReason::multicast:
    case PuntReason::neighbor:
      return 4'000;
    case PuntReason::neighbor_discovery:  // each is answered in CS6, and starts the resolution of an unknown
                                          // neighbour
      return 1'000;
    default:
      return 2'000;
  }
}

}  // namespace

PacketDisposal::PacketDisposal(std::span<PortCounters> ports, std::vector<KernelPeer> peers, rte_ring* punts,
                               std::uint64_t seed, std::size_t workers)
    : ports_(ports), peers_(std::move(peers)), ring_(punts), punts_(punts), customer_(seed) {
  if (punts == nullptr) return;
  for (std::size_t r = 0; r <= kPuntReasons; ++r) {
    const auto reason = static_cast<PuntReason>(r);
    const std::size_t receivers = has_no_flow(reason) ? 1 : workers;
    const auto rate = static_cast<std::uint32_t>(per_second(reason) / receivers);
    limits_.emplace_back(rate, rate / 4, ports.size(), now_);
  }
}

void PacketDisposal::adopt(const std::vector<KernelPeer>& peers, std::size_t ports) {
  std::ranges::copy(peers, peers_.begin());
  const bool any = std::ranges::any_of(peers, [](KernelPeer p) { return p != KernelPeer::none; });
  punts_ = any ? ring_ : nullptr;
  for (CustomerLimiter& limit : limits_) limit.share_among(std::max<std::size_t>(1, ports));
}

void PacketDisposal::punt(rte_mbuf* m, PortIndex port, PuntReason reason, std::size_t l3_offset,
                          std::uint32_t next_hop, InterfaceIndex interface) {
  const KernelPeer peer = interface == port ? peers_[port] : KernelPeer::twin;
  // The kernel's own copy is dropped before it, unless it is for an address of an interface (guard.bpf.c).
  const bool transit = next_hop == kNextHopForeign || next_hop == kNextHopLocalPrefix;
  const bool has_copy = peer == KernelPeer::sees_all && reason == PuntReason::local && !transit;
  const bool any_kernel = any_kernel_will_do(reason) && l3_offset != 0 && !has_copy;
  const bool by_ring = any_kernel || peer == KernelPeer::twin;
  if (by_ring) {
    if (punts_ == nullptr) return drop(m, port, without_kernel(reason));
    const Customer customer = customer_(rte_pktmbuf_mtod(m, const std::uint8_t*), l3_offset, port);
    if (!limits_[static_cast<std::size_t>(reason)].permit(customer, now_))
      return drop(m, port, DropReason::punt_limited);
    if (!hand_up(m, port, reason, next_hop, l3_offset, customer, interface))
      return drop(m, port, DropReason::punt_overflow);
    ++ports_[port].punted[static_cast<std::size_t>(reason)];
    return;
  }
  if (peer != KernelPeer::sees_all) return drop(m, port, without_kernel(reason));
  ++ports_[port].punted[static_cast<std::size_t>(reason)];  // the kernel has its own copy
  free(m);
}

void PacketDisposal::drop_and_report(rte_mbuf* m, PortIndex port, DropReason reason, Refusal why,
                                     std::size_t l3_offset, InterfaceIndex interface) {
  if (punts_ == nullptr || peers_[port] == KernelPeer::none) return drop(m, port, reason);
  const Customer customer = customer_(rte_pktmbuf_mtod(m, const std::uint8_t*), l3_offset, port);
  if (!limits_[kPuntReasons].permit(customer, now_)) return drop(m, port, reason);
  if (tap_ != nullptr) [[unlikely]]  // while the packet is not freed
    tap_->dropped(m, port, reason);
  ++ports_[port].drops[static_cast<std::size_t>(reason)];
  if (!hand_up(m, port, PuntReason::none, static_cast<std::uint32_t>(why), l3_offset, customer, interface))
    free(m);
}

void PacketDisposal::free_deferred() {
  if (tap_ != nullptr) [[unlikely]]
    show_drops();
  for (std::size_t i = 0; i < count_; ++i)
    if (const Why& why = why_[i]; why.lost)
      losses_.add(PacketOwner::of(deferred_[i]), why.reason, why.length);
  rte_pktmbuf_free_bulk(deferred_.data(), static_cast<unsigned>(count_));
  count_ = 0;
}

void PacketDisposal::show_drops() const {
  for (std::size_t i = 0; i < count_; ++i)
    if (why_[i].reason != DropReason::none) tap_->dropped(deferred_[i], why_[i].port, why_[i].reason);
}

// Returns false if there is no room.
bool PacketDisposal::hand_up(rte_mbuf* m, PortIndex port, PuntReason reason, std::uint32_t what,
                             std::size_t l3_offset, Customer customer, InterfaceIndex interface) {
  note_punted(m, reason, what, l3_offset, customer, interface);
  m->port = port;
  return rte_ring_enqueue(punts_, m) == 0;
}

}  // namespace surety
