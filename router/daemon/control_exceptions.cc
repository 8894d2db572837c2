// SPDX-License-Identifier: BSD-3-Clause
// Passes frames that the data plane does not forward up to the kernel side of the port, and frames from there
// down to the port.
#include <rte_ether.h>
#include <rte_mbuf.h>

#include "router/daemon/control.h"
#include "router/pipeline/egress_tags.h"
#include "router/pipeline/wire/dhcp.h"
#include "router/pipeline/wire/header_fields.h"
#include "router/pipeline/wire/headers.h"

namespace surety {

namespace {

using namespace std::chrono_literals;
constexpr unsigned kPuntsPerRound = 256;
constexpr int kFramesPerRound = 256;  // per port

// The IP packet in a frame, without padding behind it.
template <class Byte>
std::span<Byte> ip_packet_of(std::span<Byte> frame, std::size_t l3_offset) {
  const auto ip = frame.subspan(l3_offset);
  const std::size_t length = is_v6(ip.data()) ? load_be16(&ip[4]) + std::size_t{40} : load_be16(&ip[2]);
  return ip.first(std::min(length, ip.size()));
}

// True if an untagged frame holds a whole IP header.
bool is_ip(std::span<const std::uint8_t> frame) {
  if (frame.size() < kEthernetHeader + 20) return false;
  const std::uint16_t type = load_be16(&frame[12]);
  return type == RTE_ETHER_TYPE_IPV4 || (type == RTE_ETHER_TYPE_IPV6 && frame.size() >= kEthernetHeader + 40);
}

// Sets the DSCP of an IP packet to 0, if it has another one.
void clear_dscp(std::span<std::uint8_t> ip) {
  if (traffic_class(ip.data()) >> 2 != 0) set_dscp(ip.data(), is_v6(ip.data()), 0);
}

// True if a packet of the kernel answers a received one: an ICMP error, an echo reply, a TCP reset, a packet
// of a DHCP server or relay. Linux copies the DSCP of the received packet, and gives its errors precedence 6.
// `ip` has a whole header.
bool is_answer(std::span<const std::uint8_t> ip) {
  constexpr std::uint8_t kIcmp = 1, kTcp = 6, kUdp = 17, kFragment = 44, kIcmp6 = 58, kReset = 0x04;
  const bool v6 = is_v6(ip.data());
  const std::uint8_t protocol = v6 ? ip[6] : ip[9];
  const auto l4 = ip.subspan(std::min(ip.size(), v6 ? std::size_t{40} : (ip[0] & 0xfu) * std::size_t{4}));
  // The kernel's ICMP fragments are answers to long pings: they carry no type behind the first one.
  if (v6 && protocol == kFragment) return !l4.empty() && l4[0] == kIcmp6;
  if (!v6 && protocol == kIcmp && (load_be16(&ip[6]) & 0x1fff) != 0) return true;
  if (l4.size() < 14 && protocol == kTcp) return false;
  if (l4.empty()) return false;
  if (protocol == kTcp) return (l4[13] & kReset) != 0;
  if (protocol == kUdp && l4.size() >= 2) return load_be16(l4.data()) == (v6 ? 547 : 67);
  if (v6 && protocol == kIcmp6) return l4[0] < 128 || l4[0] == 129;
  return !v6 && protocol == kIcmp && l4[0] != 8;
}

// UDP or TCP, and no extension headers before it.
bool has_ports(std::span<const std::uint8_t> ip) {
  const std::uint8_t protocol = is_v6(ip.data()) ? ip[6] : ip[9];
  return protocol == 17 || protocol == 6;
}

}  // namespace

// --- up ---

bool Control::deliver_punts() {
  if (punts_ == nullptr) return false;
  std::array<void*, kPuntsPerRound> burst;
  const unsigned n = rte_ring_sc_dequeue_burst(punts_, burst.data(), kPuntsPerRound, nullptr);
  for (unsigned i = 0; i < n; ++i) {
    auto* m = static_cast<rte_mbuf*>(burst[i]);
    const Punted p = take(m);
    if (punted_reason(m) == PuntReason::none)
      tell_refused(m, p);
    else
      ++control_ports_[m->port].counters[static_cast<std::size_t>(deliver(m, p))];
    rte_pktmbuf_free(m);
  }
  gate_.delivered(n);
  return n > 0;
}

// The first segment has all that parse() has read; further ones can only be padding.
Control::Punted Control::take(rte_mbuf* m) {
  std::span<std::uint8_t> frame{rte_pktmbuf_mtod(m, std::uint8_t*), m->data_len};
  const std::size_t l3 = noted_l3_offset(m), tags = l3 > kEthernetHeader ? l3 - kEthernetHeader : 0;
  std::memmove(frame.data() + tags, frame.data(), 12);
  return {.frame = frame.subspan(tags),
          .l3 = l3 - tags,
          .customer = noted_customer(m),
          .interface = punted_interface(m),
          .link = interfaces_->exists(punted_interface(m)) ? link(punted_interface(m)) : nullptr};
}

// Undeliverable packets are answered here and not by the kernel, which may have no route back and answers for
// IPv6 only if it forwards on all interfaces.
ExceptionResult Control::deliver(rte_mbuf* m, const Punted& p) {
  const NextHopEntry hop = forwarding_.next_hops().get(punted_next_hop(m));
  if (p.link == nullptr) return ExceptionResult::no_taker;
  switch (punted_reason(m)) {
    case PuntReason::neighbor:
      return deliver_unresolved(p, hop);
    case PuntReason::ttl:
      return to_sender(IcmpProblem::time_exceeded, 0, p);
    case PuntReason::mtu:
      return to_sender(IcmpProblem::too_big, (*interfaces_)[hop.interface].mtu, p);
    case PuntReason::arp:
    case PuntReason::neighbor_discovery: {
      const ExceptionResult result = deliver_by_port(p);
      if (p.link->twin) p.link->responder->receive(p.frame, clock_.now(), p.interface);
      return result;
    }
    case PuntReason::dhcp:
      // An offered address is not the kernel's yet: it would forward the packet.
      if (const auto ip = p.frame.subspan(p.l3);
          !is_v6(ip.data()) &&
          !(p.link->responder && p.link->responder->addresses().of_port(destination_of(ip.data()))))
        dhcp::to_broadcast(ip);
      return deliver_by_port(p);
    default:
      return deliver_by_port(p);
  }
}

// Reports a drop, which is counted already. A source that is unknown behind a template's tag may exist all
// the same: this process may not have resolved it yet.
void Control::tell_refused(rte_mbuf* m, const Punted& p) {
  constexpr std::array kProblems{IcmpProblem::net_unreachable, IcmpProblem::host_unreachable,
                                 IcmpProblem::prohibited, IcmpProblem::source_refused};
  if (p.link == nullptr) return;
  if (punted_refusal(m) == Refusal::source && p.link->responder && p.interface != p.link->index &&
      p.link->responder->suspect(source_of(p.frame.data() + p.l3), p.interface, clock_.now()))
    return;
  report(kProblems[static_cast<std::size_t>(punted_refusal(m))], 0, p);
}

ExceptionResult Control::deliver_by_port(const Punted& p) {
  ControlPort& c = *p.link;
  // The kernel copies the DSCP into its answers.
  if (is_ip(p.frame) && (*interfaces_)[p.interface].customer()) clear_dscp(p.frame.subspan(p.l3));
  // The link may have come up since the last check: its neighbours must be cleared before its first frame,
  // whose sender would be removed otherwise.
  if (c.link_up == false) watch_links();
  if (c.twin && c.tags) c.tags->received(p.frame, p.interface, *c.responder, clock_.now());
  if (c.twin) return c.twin->write(p.frame) ? ExceptionResult::to_twin : ExceptionResult::twin_refused;
  if (c.responder && !c.in_kernel()) {
    const ResponderResult result = c.responder->receive(p.frame, clock_.now(), p.interface);
    if (result == ResponderResult::unhandled && p.l3 != 0 && has_ports(p.frame.subspan(p.l3)))
      report(IcmpProblem::port_unreachable, 0, p);
    return ExceptionResult::to_responder;
  }
  return p.l3 != 0 && c.in_kernel() ? to_kernel(p.frame.subspan(p.l3)) : ExceptionResult::no_taker;
}

ExceptionResult Control::deliver_unresolved(const Punted& p, const NextHopEntry& hop) {
  const auto packet = ip_packet_of(p.frame, p.l3);
  const IpAddress to = destination_of(packet.data());
  ControlPort* const egress = interfaces_->exists(hop.interface) ? link(hop.interface) : nullptr;
  // The packet bypasses the conditioners: only best effort is permitted on this path.
  if ((*interfaces_)[p.interface].customer()) clear_dscp(packet);
  if (egress == nullptr || !egress->responder) return ExceptionResult::no_taker;
  Responder& responder = *egress->responder;
  if (responder.hold(to, packet, port_of(*p.link), clock_.now(), p.interface)) {
    // The outbox is small: sending packets that need not wait makes room for the next ones.
    if (responder.neighbors().find(to) != nullptr) collect_responder(*egress);
    return ExceptionResult::held;
  }
  if (!responder.neighbors().unreachable(to) && responder.interface_towards(to))
    return ExceptionResult::not_held;
  return to_sender(IcmpProblem::host_unreachable, 0, p);
}

// The kernel answers it, takes it as its own, or sends it on by an interface that is none of our ports.
ExceptionResult Control::to_kernel(std::span<const std::uint8_t> ip_packet) {
  if (!punt_device_) return ExceptionResult::no_taker;
  return punt_device_->write(ip_packet) ? ExceptionResult::to_kernel : ExceptionResult::kernel_refused;
}

ExceptionResult Control::to_sender(IcmpProblem problem, std::uint16_t mtu, const Punted& p) {
  const IcmpErrorResult result = report(problem, mtu, p);
  // The kernel sends errors from addresses that only it has; but it would hold a packet to a neighbour that
  // does not answer.
  if (result == IcmpErrorResult::no_address && punt_device_ && problem != IcmpProblem::host_unreachable)
    return to_kernel(ip_packet_of(p.frame, p.l3));
  return ExceptionResult::icmp_error;
}

IcmpErrorResult Control::report(IcmpProblem problem, std::uint16_t mtu, const Punted& p) {
  Slot slot{frame_.data(), static_cast<std::uint32_t>(frame_.size()), 0};
  const ControlPort& c = *p.link;
  const std::string name = interfaces_->name(p.interface);
  const InterfaceInformation told{name, mtu_of(c)};
  const auto result =
      icmp_errors_.report(problem, mtu, p.frame, p.l3, p.customer, {ports_[port_of(c)]->mac()},
                          c.responder ? c.responder->addresses() : *c.addresses, slot, clock_.now(),
                          name_interfaces_ ? &told : nullptr);
  if (slot.length == 0) return result;
  const std::span<std::uint8_t> error(frame_.data(), slot.length);
  // Errors towards the core are best effort: a customer can cause hosts there to send to unused addresses.
  if (!(*interfaces_)[p.interface].customer()) set_own_dscp(error);
  send(p.interface, error, ExceptionResult::from_responder);
  return result;
}

// --- down ---

bool Control::collect() {
  bool any = false;
  collected_all_ = true;
  for_each_link([&](ControlPort& c) {
    if (c.twin) any |= collect_from(*c.twin, c, ExceptionResult::from_twin);
    if (c.divert) any |= collect_from(*c.divert, c, ExceptionResult::from_kernel);
    if (c.tap) any |= collect_tap(c);
    if (c.responder) any |= collect_responder(c);
  });
  return any;
}

template <class Device>
bool Control::collect_from(Device& device, ControlPort& c, ExceptionResult sent) {
  int n = 0;
  for (; n < kFramesPerRound; ++n) {
    const auto frame = device.read(frame_);
    if (frame.empty()) break;
    if (const auto interface = c.tags ? c.tags->tag_of(frame, *c.responder) : std::optional(c.index))
      send(*interface, frame, sent);
    else if (!c.tags->hold_advertisement(frame))
      ++control_ports_[port_of(c)].counters[static_cast<std::size_t>(ExceptionResult::no_taker)];
  }
  if (c.tags) n += send_advertisements(c, sent);
  collected_all_ = collected_all_ && n < kFramesPerRound;
  return n > 0;
}

int Control::send_advertisements(ControlPort& c, ExceptionResult sent) {
  int n = 0;
  const Time now = clock_.now();
  for (; n < kFramesPerRound; ++n) {
    const auto interface = c.tags->next_tag(*c.responder, now);
    if (!interface) break;
    send(*interface, c.tags->advertisement(), sent);
  }
  return n;
}

bool Control::collect_tap(ControlPort& c) {
  int n = 0;
  for (; n < kFramesPerRound; ++n) {
    const auto frame = c.tap->read(frame_);
    if (frame.empty()) break;
    c.responder->receive(frame, clock_.now());
  }
  return n > 0;
}

bool Control::collect_responder(ControlPort& c) {
  const Time now = clock_.now();
  int n = send_responder(c, now);
  while (n < kFramesPerRound) {
    const auto change = c.responder->next_change();
    if (!change) break;
    routes_.learn(change->interface, change->address, change->mac);
    if (change->mac || !change->unreachable) tell_kernel(c, change->address, change->mac);
    n += 1 + send_responder(c, now);
  }
  collected_all_ = collected_all_ && n < kFramesPerRound;
  return n > 0;
}

int Control::send_responder(ControlPort& c, Time now) {
  Responder& responder = *c.responder;
  int n = 0;
  for (; n < kFramesPerRound && responder.next_wakeup() <= now; ++n) {
    Slot slot{frame_.data(), static_cast<std::uint32_t>(frame_.size()), 0};
    if (responder.poll({&slot, 1}, now) == 0) break;
    send(slot.interface, {frame_.data(), slot.length}, ExceptionResult::from_responder);
  }
  return n;
}

// Answers of the kernel, and ICMP errors towards the core, are best effort, except to addresses in
// `neighbors:`. With another DSCP a customer could have frames of that class sent to any address.
void Control::set_own_dscp(std::span<std::uint8_t> frame) const {
  const auto ip = frame.subspan(kEthernetHeader);
  if (!is_answer(ip)) return;
  const IpAddress to = destination_of(ip.data());
  if (std::ranges::find(config_.neighbors, to, &config::Neighbor::address) == config_.neighbors.end())
    clear_dscp(ip);
}

void Control::send(InterfaceIndex interface, std::span<const std::uint8_t> frame, ExceptionResult sent) {
  const InterfaceRecord& r = (*interfaces_)[interface];
  const bool kernels = sent == ExceptionResult::from_kernel || sent == ExceptionResult::from_twin;
  const auto try_to = [&] {
    if (pool_ == nullptr || !inject_) return ExceptionResult::no_buffer;
    rte_mbuf* m = rte_pktmbuf_alloc(pool_);
    if (m == nullptr) return ExceptionResult::no_buffer;
    char* const room = frame.size() <= UINT16_MAX
                           ? rte_pktmbuf_append(m, static_cast<std::uint16_t>(frame.size()))
                           : nullptr;
    if (room != nullptr) {
      std::memcpy(room, frame.data(), frame.size());
      if (kernels && is_ip(frame)) set_own_dscp({reinterpret_cast<std::uint8_t*>(room), frame.size()});
      if (r.tags.any()) set_interface(m, interface, r.tags);
      if (inject_(r.port, m)) {
        gate_.sent(r.port);
        return sent;
      }
    }
    rte_pktmbuf_free(m);
    return room == nullptr ? ExceptionResult::oversized : ExceptionResult::ring_full;
  };
  ++control_ports_[r.port].counters[static_cast<std::size_t>(try_to())];
}

}  // namespace surety
