// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/control/punt_delivery.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "router/daemon/control/best_effort.h"
#include "router/daemon/control/frame_collector.h"
#include "router/daemon/control/frame_sender.h"
#include "router/daemon/control/link_watch.h"
#include "router/daemon/control/neighbor_gate.h"
#include "router/pipeline/flows/mbuf_notes.h"
#include "router/pipeline/wire/bytes.h"
#include "router/pipeline/wire/dhcp.h"
#include "router/pipeline/wire/header_fields.h"

namespace surety {

namespace {

// The IP packet in a frame, without padding behind it.
std::span<std::uint8_t> ip_packet_of(std::span<std::uint8_t> frame, std::size_t l3_offset) {
  const auto ip = frame.subspan(l3_offset);
  const std::size_t length = is_v6(ip.data()) ? load_be16(&ip[4]) + std::size_t{40} : load_be16(&ip[2]);
  return ip.first(std::min(length, ip.size()));
}

// UDP or TCP, and no extension headers before it.
bool has_ports(std::span<const std::uint8_t> ip) {
  const std::uint8_t protocol = is_v6(ip.data()) ? ip[6] : ip[9];
  return protocol == 17 || protocol == 6;
}

std::optional<IpAddress> router_id(const config::Config& config) {
  if (config.router.id == 0) return {};
  return IpAddress::v4(__builtin_bswap32(config.router.id));
}

}  // namespace

PuntDelivery::PuntDelivery(const Parts& parts, rte_ring* punts, Time now)
    : links_(parts.links),
      next_hops_(parts.next_hops),
      gate_(parts.gate),
      watch_(parts.watch),
      sender_(parts.sender),
      collector_(parts.collector),
      punts_(punts),
      icmp_errors_(links_.ports().size(), now, router_id(links_.config()), links_.config().router.dscp) {
  configure();
}

void PuntDelivery::configure() {
  icmp_errors_.share_among(links_.config().port_count());
}

bool PuntDelivery::deliver(Time now) {
  if (punts_ == nullptr) return false;
  std::array<void*, kPerRound> burst;
  const unsigned n = rte_ring_sc_dequeue_burst(punts_, burst.data(), kPerRound, nullptr);
  for (unsigned i = 0; i < n; ++i) {
    auto* m = static_cast<rte_mbuf*>(burst[i]);
    const Punted p = take(m, now);
    if (const PuntReason reason = punted_reason(m); reason == PuntReason::none)
      tell_refused(punted_refusal(m), p);
    else
      links_.count(m->port, deliver(reason, next_hops_.get(punted_next_hop(m)), p));
    rte_pktmbuf_free(m);
  }
  gate_.delivered(n);
  return n > 0;
}

// The first segment has all that parse() has read; further ones can only be padding.
PuntDelivery::Punted PuntDelivery::take(rte_mbuf* m, Time now) {
  std::span<std::uint8_t> frame{rte_pktmbuf_mtod(m, std::uint8_t*), m->data_len};
  const std::size_t l3 = noted_l3_offset(m), tags = l3 > kEthernetHeader ? l3 - kEthernetHeader : 0;
  std::memmove(frame.data() + tags, frame.data(), 12);
  return {.frame = frame.subspan(tags),
          .l3 = l3 - tags,
          .customer = noted_customer(m),
          .interface = punted_interface(m),
          .link = links_.existing_link(punted_interface(m)),
          .now = now};
}

// Undeliverable packets are answered here and not by the kernel, which may have no route back and answers for
// IPv6 only if it forwards on all interfaces.
ExceptionResult PuntDelivery::deliver(PuntReason reason, const NextHopEntry& hop, const Punted& p) {
  if (p.link == nullptr) return ExceptionResult::no_taker;
  switch (reason) {
    case PuntReason::neighbor:
      return unresolved(p, hop);
    case PuntReason::ttl:
      return to_sender(IcmpProblem::time_exceeded, 0, p);
    case PuntReason::mtu:
      return to_sender(IcmpProblem::too_big, mtu_of(hop, (*links_.interfaces())[hop.interface].mtu), p);
    case PuntReason::arp:
    case PuntReason::neighbor_discovery: {
      const ExceptionResult result = by_port(p);
      if (p.link->twin) p.link->responder->receive(p.frame, p.now, p.interface);
      return result;
    }
    case PuntReason::dhcp:
      // An offered address is not the kernel's yet: it would forward the packet.
      if (const auto ip = p.frame.subspan(p.l3);
          !is_v6(ip.data()) &&
          !(p.link->responder && p.link->responder->addresses().of_port(destination_of(ip.data()))))
        dhcp::to_broadcast(ip);
      return by_port(p);
    default:
      return by_port(p);
  }
}

// Reports a drop, which is counted already. A source that is unknown behind a template's tag may exist all
// the same: this process may not have resolved it yet.
void PuntDelivery::tell_refused(Refusal refusal, const Punted& p) {
  constexpr std::array kProblems{IcmpProblem::net_unreachable, IcmpProblem::host_unreachable,
                                 IcmpProblem::prohibited, IcmpProblem::source_refused};
  if (p.link == nullptr) return;
  if (refusal == Refusal::source && p.link->responder && p.interface != p.link->index &&
      p.link->responder->suspect(source_of(p.frame.data() + p.l3), p.interface, p.now))
    return;
  report(kProblems[static_cast<std::size_t>(refusal)], 0, p);
}

ExceptionResult PuntDelivery::by_port(const Punted& p) {
  ControlPort& c = *p.link;
  // The kernel copies the DSCP into its answers.
  if (is_ip(p.frame) && from_customer(p)) clear_dscp(p.frame.subspan(p.l3));
  // The link may have come up since the last check: its neighbours must be cleared before its first frame,
  // whose sender would be removed otherwise.
  if (c.state.up == false) watch_.read(p.now);
  if (c.twin && c.tags) c.tags->received(p.frame, p.interface, *c.responder, p.now);
  if (c.twin) return c.twin->write(p.frame) ? ExceptionResult::to_twin : ExceptionResult::twin_refused;
  if (c.responder && !c.in_kernel()) {
    const ResponderResult result = c.responder->receive(p.frame, p.now, p.interface);
    if (result == ResponderResult::unhandled && p.l3 != 0 && has_ports(p.frame.subspan(p.l3)))
      report(IcmpProblem::port_unreachable, 0, p);
    return ExceptionResult::to_responder;
  }
  return p.l3 != 0 && c.in_kernel() ? to_kernel(p.frame.subspan(p.l3)) : ExceptionResult::no_taker;
}

ExceptionResult PuntDelivery::unresolved(const Punted& p, const NextHopEntry& hop) {
  const auto packet = ip_packet_of(p.frame, p.l3);
  const IpAddress to = destination_of(packet.data());
  ControlPort* const egress = links_.existing_link(hop.interface);
  // The packet bypasses the conditioners: only best effort is permitted on this path.
  if (from_customer(p)) clear_dscp(packet);
  if (egress == nullptr || !egress->responder) return ExceptionResult::no_taker;
  Responder& responder = *egress->responder;
  if (responder.hold(to, packet, links_.port_of(*p.link), p.now, p.interface)) {
    // The outbox is small: sending packets that need not wait makes room for the next ones.
    if (responder.neighbors().find(to) != nullptr) collector_.collect_responder(*egress, p.now);
    return ExceptionResult::held;
  }
  if (!responder.neighbors().unreachable(to) && responder.interface_towards(to))
    return ExceptionResult::not_held;
  return to_sender(IcmpProblem::host_unreachable, 0, p);
}

// The kernel answers it, takes it as its own, or sends it on by an interface that is none of our ports.
ExceptionResult PuntDelivery::to_kernel(std::span<const std::uint8_t> ip_packet) {
  if (!to_kernel_) return ExceptionResult::no_taker;
  return to_kernel_(ip_packet) ? ExceptionResult::to_kernel : ExceptionResult::kernel_refused;
}

ExceptionResult PuntDelivery::to_sender(IcmpProblem problem, std::uint16_t mtu, const Punted& p) {
  const IcmpErrorResult result = report(problem, mtu, p);
  // The kernel sends errors from addresses that only it has; but it would hold a packet to a neighbour that
  // does not answer.
  if (result == IcmpErrorResult::no_address && to_kernel_ && problem != IcmpProblem::host_unreachable)
    return to_kernel(ip_packet_of(p.frame, p.l3));
  return ExceptionResult::icmp_error;
}

IcmpErrorResult PuntDelivery::report(IcmpProblem problem, std::uint16_t mtu, const Punted& p) {
  Slot slot{error_.data(), static_cast<std::uint32_t>(error_.size()), 0};
  const ControlPort& c = *p.link;
  const std::string name = links_.interfaces()->name(p.interface);
  const InterfaceInformation told{name, links_.mtu_of(c)};
  const auto result = icmp_errors_.report(problem, mtu, p.frame, p.l3, p.customer, c.mac,
                                          c.responder ? c.responder->addresses() : *c.addresses, slot, p.now,
                                          links_.config().icmp.interface_information ? &told : nullptr);
  if (slot.length == 0) return result;
  const std::span<std::uint8_t> error(error_.data(), slot.length);
  // Errors towards the core are best effort: a customer can cause hosts there to send to unused addresses.
  if (!from_customer(p)) sender_.set_own_dscp(error);
  sender_.send(p.interface, error, ExceptionResult::from_responder);
  return result;
}

}  // namespace surety
