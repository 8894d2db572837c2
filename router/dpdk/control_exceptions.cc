// SPDX-License-Identifier: BSD-3-Clause
// Frames that the data plane does not forward, up to whoever stands behind the port, and theirs down to it.
#include <rte_mbuf.h>

#include "router/dpdk/control.h"
#include "router/wire/headers.h"
#include "router/wire/ip_bytes.h"

namespace surety {

namespace {

using namespace std::chrono_literals;
constexpr unsigned kPuntsPerRound = 256;
constexpr int kFramesPerRound = 256;  // of a port

// Without the padding that may follow.
template <class Byte>
std::span<Byte> ip_packet_of(std::span<Byte> frame, std::size_t l3_offset) {
  const auto ip = frame.subspan(l3_offset);
  const std::size_t length = is_v6(ip.data()) ? load_be16(&ip[4]) + std::size_t{40} : load_be16(&ip[2]);
  return ip.first(std::min(length, ip.size()));
}

}  // namespace

// --- up ---

bool Control::deliver_punts() {
  if (punts_ == nullptr) return false;
  std::array<void*, kPuntsPerRound> burst;
  const unsigned n = rte_ring_sc_dequeue_burst(punts_, burst.data(), kPuntsPerRound, nullptr);
  for (unsigned i = 0; i < n; ++i) {
    auto* m = static_cast<rte_mbuf*>(burst[i]);
    ++control_ports_[m->port].counters[static_cast<std::size_t>(deliver(m))];
    rte_pktmbuf_free(m);
  }
  gate_.delivered(n);
  return n > 0;
}

// Packets that cannot go on are answered here and not by the kernel, which may have no way back (it does not
// know the routes of YAML) and answers for IPv6 only where it forwards for all.
ExceptionResult Control::deliver(rte_mbuf* m) {
  // What parse() has found is in the first segment; others could only be padding.
  const std::span<std::uint8_t> frame{rte_pktmbuf_mtod(m, std::uint8_t*), m->data_len};
  const std::size_t port = m->port, l3 = m->l2_len;
  const NextHopEntry hop = forwarding_.next_hops().get(punted_next_hop(m));
  switch (punted_reason(m)) {
    case PuntReason::neighbor:
      return deliver_unresolved(m->vlan_tci_outer, hop, frame, l3);
    case PuntReason::ttl:
      return to_sender(IcmpProblem::time_exceeded, 0, m->vlan_tci_outer, frame, l3);
    case PuntReason::mtu:
      return to_sender(IcmpProblem::too_big, config_.ports[hop.port].mtu, m->vlan_tci_outer, frame, l3);
    default:
      return deliver_by_port(port, frame, l3);
  }
}

ExceptionResult Control::deliver_by_port(std::size_t port, std::span<const std::uint8_t> frame,
                                         std::size_t l3) {
  ControlPort& c = control_ports_[port];
  if (c.twin) return c.twin->write(frame) ? ExceptionResult::to_twin : ExceptionResult::twin_refused;
  if (c.responder) {
    c.responder->receive(frame, clock_.now());
    return ExceptionResult::to_responder;
  }
  return l3 != 0 && c.in_kernel() ? to_kernel(frame.subspan(l3)) : ExceptionResult::no_taker;
}

ExceptionResult Control::deliver_unresolved(Customer customer, const NextHopEntry& hop,
                                            std::span<std::uint8_t> frame, std::size_t l3) {
  const auto packet = ip_packet_of(frame, l3);
  const IpAddress to = destination_of(packet.data());
  ControlPort& egress = control_ports_[hop.port];
  // It goes on past the conditioners: nothing but best effort gets through that way.
  if (config_.ports[port_of(customer)].trust == config::Port::Trust::customer)
    set_dscp(packet.data(), is_v6(packet.data()), 0);
  if (egress.responder) {
    if (egress.responder->hold(to, packet, clock_.now())) {
      // Its outbox is small; what need not wait makes room for what follows.
      if (egress.responder->neighbors().find(to) != nullptr) collect_responder(hop.port);
      return ExceptionResult::held;
    }
    if (!egress.responder->neighbors().unreachable(to)) return ExceptionResult::not_held;
    return to_sender(IcmpProblem::unreachable, 0, customer, frame, l3);
  }
  if (egress.in_kernel()) resolve(egress.interface, to);
  return to_kernel(packet);
}

// The kernel queues it until the neighbour answers, answers it itself, or takes it as its own.
ExceptionResult Control::to_kernel(std::span<const std::uint8_t> ip_packet) {
  if (!punt_device_) return ExceptionResult::no_taker;
  return punt_device_->write(ip_packet) ? ExceptionResult::to_kernel : ExceptionResult::kernel_refused;
}

ExceptionResult Control::to_sender(IcmpProblem problem, std::uint16_t mtu, Customer customer,
                                   std::span<const std::uint8_t> frame, std::size_t l3) {
  const std::size_t port = port_of(customer);
  Slot slot{frame_.data(), static_cast<std::uint32_t>(frame_.size()), 0};
  const auto result = icmp_errors_.report(problem, mtu, frame, l3, customer, {ports_[port]->mac()},
                                          *control_ports_[port].addresses, slot, clock_.now());
  // Addresses that only the kernel has are the kernel's to speak from.
  if (result == IcmpErrorResult::no_address && punt_device_) return to_kernel(ip_packet_of(frame, l3));
  if (slot.length > 0) send(port, {frame_.data(), slot.length}, ExceptionResult::from_responder);
  return ExceptionResult::icmp_error;
}

// --- down ---

bool Control::collect() {
  bool any = false;
  collected_all_ = true;
  for (std::size_t p = 0; p < ports_.size(); ++p) {
    if (control_ports_[p].twin) any |= collect_twin(p);
    if (control_ports_[p].responder) any |= collect_responder(p);
  }
  return any;
}

bool Control::collect_twin(std::size_t p) {
  int n = 0;
  for (; n < kFramesPerRound; ++n) {
    const auto frame = control_ports_[p].twin->read(frame_);
    if (frame.empty()) break;
    send(p, frame, ExceptionResult::from_twin);
  }
  collected_all_ = collected_all_ && n < kFramesPerRound;
  return n > 0;
}

bool Control::collect_responder(std::size_t p) {
  ControlPort& c = control_ports_[p];
  while (const auto change = c.responder->next_change()) {
    const auto action = change->mac ? EventAction::add : EventAction::remove;
    on(NeighborEvent{action, c.interface, change->address, change->mac.value_or(MacAddress{})});
  }
  int n = 0;
  for (const Time now = clock_.now(); n < kFramesPerRound && c.responder->next_wakeup() <= now; ++n) {
    Slot slot{frame_.data(), static_cast<std::uint32_t>(frame_.size()), 0};
    if (c.responder->poll({&slot, 1}, now) == 0) break;
    send(p, {frame_.data(), slot.length}, ExceptionResult::from_responder);
  }
  collected_all_ = collected_all_ && n < kFramesPerRound;
  return n > 0;
}

void Control::send(std::size_t p, std::span<const std::uint8_t> frame, ExceptionResult sent) {
  const auto try_to = [&] {
    if (pool_ == nullptr || !inject_) return ExceptionResult::no_buffer;
    rte_mbuf* m = rte_pktmbuf_alloc(pool_);
    if (m == nullptr) return ExceptionResult::no_buffer;
    char* const room = frame.size() <= UINT16_MAX
                           ? rte_pktmbuf_append(m, static_cast<std::uint16_t>(frame.size()))
                           : nullptr;
    if (room != nullptr) {
      std::memcpy(room, frame.data(), frame.size());
      if (inject_(static_cast<PortIndex>(p), m)) {
        gate_.sent(static_cast<PortIndex>(p));
        return sent;
      }
    }
    rte_pktmbuf_free(m);
    return room == nullptr ? ExceptionResult::oversized : ExceptionResult::ring_full;
  };
  ++control_ports_[p].counters[static_cast<std::size_t>(try_to())];
}

}  // namespace surety
