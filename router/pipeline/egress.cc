// SPDX-License-Identifier: BSD-3-Clause
// The path of a packet out of a port on one page: its burst is split by class, its class's aggregate marks
// it, RIO queues it, and the scheduler and the shaper release it.
#include "router/pipeline/egress.h"

#include <rte_ether.h>

#include <bit>

#include "router/pipeline/egress_tags.h"

namespace surety {

namespace {
// RFC 4861 7.1: sent on the link itself.
bool is_neighbor_discovery(const rte_mbuf* m) {
  constexpr std::uint8_t kIcmp6 = 58, kHopLimit = 255, kFirst = 133, kLast = 137;
  const auto* const frame = rte_pktmbuf_mtod(m, const std::uint8_t*);
  const std::uint8_t* const ip = frame + RTE_ETHER_HDR_LEN;
  return load_be16(frame + 12) == RTE_ETHER_TYPE_IPV6 && m->data_len > RTE_ETHER_HDR_LEN + 40 &&
         ip[6] == kIcmp6 && ip[7] == kHopLimit && ip[40] >= kFirst && ip[40] <= kLast;
}

void set_ce(const Packet& p) {
  std::uint8_t* const ip = egress_ip(p);
  surety::set_ce(ip, is_v6(ip));
}

Packet control_packet(rte_mbuf* m) {
  return {m, kNoFlow, static_cast<std::uint16_t>(m->pkt_len - RTE_ETHER_HDR_LEN), Precedence::in};
}

// The customer of a packet, as far as it shares places beyond a limit (active_queue.h): the ingress port, and
// a part of it by the contract.
FlowId sharer(const Packet& p) {
  const auto* const m = static_cast<const rte_mbuf*>(p.handle);
  const PacketOwner owner = PacketOwner::of(m);
  const std::size_t contract = owner.any() ? owner.flow + owner.worker() : kNoFlow;
  return static_cast<Customer>(std::size_t{m->port} << 8 | contract % kParts);
}

// A packet that has arrived at a queue.
struct Arrived {
  const Packet& packet;
  Hierarchy::Interface interface;
  std::size_t class_index;
};
}  // namespace

void Egress::enqueue(const Burst& v, LaneMask lanes, Time now) {
  counters_.enqueued += static_cast<std::size_t>(std::popcount(lanes));
  by_kind(queues_, [&](auto& queues) { put(queues, v, lanes, now); });
}

void Egress::enqueue_handed(std::span<const HandedPacket> burst, Time now) {
  counters_.enqueued += burst.size();
  by_kind(queues_, [&](auto& queues) { put(queues, burst, now); });
}

void Egress::enqueue_frames(std::span<rte_mbuf* const> burst, Time now) {
  counters_.enqueued += burst.size();
  put_frames(burst, now);
}

void Egress::enqueue_own(std::span<rte_mbuf* const> burst, Time now) {
  counters_.enqueued += burst.size();
  for (rte_mbuf* m : burst) {
    clear_owner(m);
    const std::uint16_t type = load_be16(rte_pktmbuf_mtod(m, const std::uint8_t*) + 12);
    const bool ip = type == RTE_ETHER_TYPE_IPV4 || type == RTE_ETHER_TYPE_IPV6;
    const bool discovery = is_neighbor_discovery(m);
    if (discovery) set_dscp(ip_header(m, RTE_ETHER_HDR_LEN), true, own_dscp_);
    if (ip && !discovery)
      put_frames({&m, 1}, now);
    else
      by_kind(queues_, [&](auto& queues) { put_control(queues, m, now); });
  }
}

std::size_t Egress::transmit(std::span<rte_mbuf*> room, Time now) {
  shaper_.advance(now);
  return by_kind(queues_, [&](auto& queues) {
    if constexpr (std::is_same_v<decltype(queues), PlainQueue&>) {
      return queues.dequeue(room, shaper_, now);
    } else {
      const std::span<Packet> out{packets_.data(), std::min(room.size(), kBurst)};
      const std::size_t n = queues.dequeue(now, shaper_, out);
      for (std::size_t i = 0; i < n; ++i) room[i] = static_cast<rte_mbuf*>(packets_[i].handle);
      return n;
    }
  });
}

void Egress::advance(Time now) {
  if (growing_) [[unlikely]]
    growing_ = std::get_if<ClassScheduler>(&queues_)->grow(kSlice);
  if (QueueTree* const tree = tree_of(queues_); tree != nullptr && tree->changing()) [[unlikely]] {
    tree->advance(now);
    take_removed(*tree, now);
  }
  domains_.advance(queues_, now);
  markers_.advance(now);
}

Time Egress::next_departure(Time now) const {
  const Time queued = by_kind(queues_, [&](const auto& queues) { return queues.next_event(now); });
  return std::max(queued, shaper_.next_event(now));
}

Time Egress::next_timer() const {
  if (tree() != nullptr && tree()->changing()) return Time{};  // the next turn
  return std::min(domains_.next_event(), markers_.next_event());
}

HandedPacket Egress::describe(rte_mbuf* m, std::uint16_t length, std::uint8_t traffic_class,
                              const PortQueues& classes) {
  if (classes.plain) return {m, length, 0, Precedence::out, false, classes.layout};
  Packet p{m, kNoFlow, length};
  const PortTree* const tree = classes.tree.get();
  const auto& by_dscp = tree == nullptr ? classes.by_dscp : tree->set(interface_of(m, tree->port)).by_dscp;
  const ClassSplit::Arrival arrival = ClassSplit::look_up(p, traffic_class, by_dscp);
  return {m, length, arrival.class_index, p.precedence, arrival.ecn_capable, classes.layout};
}

// Frames that are to be read: their layout is not that of the classes.
void Egress::put_frames(std::span<rte_mbuf* const> burst, Time now) {
  const auto unknown = static_cast<std::uint16_t>(layout_ + 1);
  std::array<HandedPacket, kBurst> packets;
  for (std::size_t n = 0; !burst.empty(); burst = burst.subspan(n)) {
    n = std::min(burst.size(), packets.size());
    for (std::size_t i = 0; i < n; ++i) {
      const auto length = static_cast<std::uint16_t>(burst[i]->pkt_len - RTE_ETHER_HDR_LEN);
      packets[i] = {burst[i], length, 0, Precedence::out, false, unknown};
    }
    by_kind(queues_,
            [&](auto& queues) { put(queues, std::span<const HandedPacket>(packets.data(), n), now); });
  }
}

// Acts on the first notices of RIO's decisions; `of` gives the packet of each, with its interface and class.
template <class Of>
void Egress::act(std::size_t notices, Of of, Time now) {
  for (const auto& [at, result] : std::span(notices_).first(notices)) {
    const auto& [p, interface, class_index] = of(at);
    if (result.event != CongestionEvent::none) note_congestion(interface, class_index, p, result.event, now);
    if (result.mark) set_ce(p);
    if (result.drop != DropReason::none)
      disposal_.drop_owned(static_cast<rte_mbuf*>(p.handle), port_, result.drop);
  }
}

// The port's own queues signal as everywhere. An interface's queues are one hop further: their signals are
// treated as another router's, so that only the paths behind the interface are held back. There are thousands
// of such queues, so none stores its contributors: there are samples only.
void Egress::note_congestion(Hierarchy::Interface interface, std::size_t class_index, const Packet& p,
                             CongestionEvent event, Time now) {
  if (interface == port_) return domains_.arrival(class_index, event, p, now);
  if (event != CongestionEvent::eighth) return;
  if (!told_.permit(static_cast<Customer>(interface % kParts), now)) return;
  CongestionSignal s = signal_about({egress_ip(p), p.length});
  s.port = port_;
  s.class_index =
      static_cast<std::uint8_t>(split_.class_of(s.dscp));  // other routers have only the port's classes
  s.time = now;
  if (domains_.signals_on())
    domains_.signal(s);
  else
    notes_.push(s);
}

// A port without `queues`: one queue, which decides nothing per packet.

void Egress::put(PlainQueue& queue, const Burst& v, LaneMask lanes, Time now) {
  if (lanes == v.all()) return put(queue, std::span(v.mbuf).first(v.size), now);
  std::array<rte_mbuf*, kBurst> frames;
  std::size_t n = 0;
  for (; lanes != 0; lanes &= lanes - 1)
    frames[n++] = v.mbuf[static_cast<std::size_t>(std::countr_zero(lanes))];
  put(queue, std::span(frames).first(n), now);
}

void Egress::put(PlainQueue& queue, std::span<const HandedPacket> burst, Time now) {
  std::array<rte_mbuf*, kBurst> frames;
  std::ranges::transform(burst, frames.begin(), &HandedPacket::mbuf);
  put(queue, std::span(frames).first(burst.size()), now);
}

void Egress::put_control(PlainQueue& queue, rte_mbuf* m, Time now) {
  put(queue, std::span(&m, 1), now);
}

void Egress::put(PlainQueue& queue, std::span<rte_mbuf* const> frames, Time now) {
  const std::size_t admitted = queue.enqueue(frames, now);
  for (rte_mbuf* m : frames.subspan(admitted)) disposal_.drop_owned(m, port_, refusal_);
}

// A port with `queues`: its class's aggregate, and its class.

void Egress::put(ClassScheduler& classes, const Burst& v, LaneMask lanes, Time now) {
  split_.begin(v, lanes, packets_);
  put_split(classes, now);
}

void Egress::put(ClassScheduler& classes, std::span<const HandedPacket> burst, Time now) {
  split_.begin(burst, packets_, layout_);
  put_split(classes, now);
}

void Egress::put_split(ClassScheduler& classes, Time now) {
  for (ClassRun run; split_.take(run);) {
    markers_.mark(run, now);
    offer(classes, run, now);
  }
}

void Egress::put_control(ClassScheduler& classes, rte_mbuf* m, Time now) {
  Packet p = control_packet(m);
  bool ecn_capable = false;
  offer(classes, {split_.class_of(own_dscp_), {&p, 1}, {&ecn_capable, 1}}, now, true);
}

void Egress::offer(ClassScheduler& classes, const ClassRun& run, Time now, bool own) {
  if (classes.queue(run.class_index).names_customers(run.packets.size())) [[unlikely]]
    for (Packet& p : run.packets) p.flow = sharer(p);
  const std::size_t n = classes.enqueue(run.class_index, run.packets, run.ecn_capable, notices_, now);
  if (domains_.watches(run.class_index) && !own) [[unlikely]]
    domains_.note(run, now);
  const auto arrived = [&](std::size_t i) { return Arrived{run.packets[i], port_, run.class_index}; };
  act(n, arrived, now);
}

// A port with queues below it: its interface's class, the aggregate there, the hierarchy.

// A packet without a queue is dropped: its interface was removed.
[[gnu::always_inline]] inline bool Egress::found(bool has_queue, rte_mbuf* m) {
  if (!has_queue) [[unlikely]]
    disposal_.drop_owned(m, port_, DropReason::interface_gone);
  return has_queue;
}

void Egress::put(QueueTree& tree, const Burst& v, LaneMask lanes, Time now) {
  std::size_t n = 0;
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(lanes));
    Packet p{v.mbuf[i], kNoFlow, v.header[i].length};
    n += found(tree.find(p, v.traffic_class(i), arrivals_[n]), v.mbuf[i]);
  }
  put_found(tree, n, now);
}

void Egress::put(QueueTree& tree, std::span<const HandedPacket> burst, Time now) {
  std::size_t n = 0;
  for (const HandedPacket& h : burst) {
    Packet p{h.mbuf(), kNoFlow, h.length(), h.precedence()};
    const bool known = h.layout() == layout_ && !tree.changing();
    n += found(known ? tree.find(p, h.class_index(), h.ecn_capable(), arrivals_[n])
                     : tree.find(p, traffic_class(egress_ip(p)), arrivals_[n]),
               h.mbuf());
  }
  put_found(tree, n, now);
}

void Egress::put_control(QueueTree& tree, rte_mbuf* m, Time now) {
  Packet p = control_packet(m);
  const bool has_queue = found(tree.find(p, static_cast<std::uint8_t>(own_dscp_ << 2), arrivals_[0]), m);
  arrivals_[0].packet.precedence = Precedence::in;
  offer(tree, has_queue, now, true);
}

void Egress::put_found(QueueTree& tree, std::size_t arrivals, Time now) {
  if (!markers_.all().empty()) [[unlikely]]
    arrivals = mark_arrivals(tree, arrivals, now);
  offer(tree, arrivals, now);
}

// The packets may all have different interfaces.
void Egress::offer(QueueTree& tree, std::size_t arrivals, Time now, bool own) {
  const std::span<const Hierarchy::Arrival> all{arrivals_.data(), arrivals};
  if (domains_.watches_any() && !own) [[unlikely]]
    for (const auto& a : all)
      if (a.interface == port_ && domains_.watches(a.class_index))
        domains_.note(a.class_index, a.packet, now);
  const std::size_t n = tree.hierarchy().enqueue(all, notices_, now);
  const auto arrived = [&](std::size_t i) {
    return Arrived{all[i].packet, all[i].interface, all[i].class_index};
  };
  act(n, arrived, now);
}

// Each packet is a run of its own: few interfaces have an aggregate.
std::size_t Egress::mark_arrivals(const QueueTree& tree, std::size_t arrivals, Time now) {
  std::size_t left = 0;
  for (std::size_t i = 0; i < arrivals; ++i) {
    Hierarchy::Arrival a = arrivals_[i];
    if (const auto slot = tree.plan().slot(static_cast<InterfaceIndex>(a.interface), a.class_index)) {
      ClassRun run{*slot, {&a.packet, 1}, {&a.ecn_capable, 1}};
      markers_.mark(run, now);
      if (run.packets.empty()) continue;
    }
    arrivals_[left++] = a;
  }
  return left;
}

// Takes the packets of removed interfaces: those of existing interfaces, with other classes or without queues
// of their own, are put into queues again.
void Egress::take_removed(QueueTree& tree, Time now) {
  std::array<Packet, kBurst> removed;
  std::array<rte_mbuf*, kBurst> kept;
  for (std::size_t n = removed.size(); n == removed.size();) {
    n = tree.hierarchy().take_removed(removed, now);
    std::size_t left = 0;
    for (const Packet& p : std::span(removed).first(n)) {
      kept[left] = static_cast<rte_mbuf*>(p.handle);
      left += found(tree.plan().exists(interface_of(kept[left], port_)), kept[left]);
    }
    put_frames({kept.data(), left}, now);
    if (n > 0) disposal_.flush();
  }
}

}  // namespace surety
