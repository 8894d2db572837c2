// SPDX-License-Identifier: BSD-3-Clause
// The path of a packet out of a port on one page: its burst is split by class, its class's aggregate marks
// it, RIO queues it, and the scheduler and the shaper release it.
#include "router/pipeline/egress.h"

#include <rte_ether.h>

#include <bit>

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
}  // namespace

void Egress::enqueue(std::span<Packet> burst, Time now) {
  counters_.enqueued += burst.size();
  if (tree_) [[unlikely]]
    return enqueue_tree(burst, now);
  split_.begin(burst);
  enqueue_classes(now);
}

void Egress::enqueue(const Burst& v, LaneMask lanes, Time now) {
  if (plain_) return enqueue_plain(v, lanes, now);
  if (tree_) [[unlikely]]
    return enqueue_tree(v, lanes, now);
  const std::size_t n = split_.begin(v, lanes, packets_);
  counters_.enqueued += n;
  enqueue_classes(now);
}

void Egress::enqueue_plain(const Burst& v, LaneMask lanes, Time now) {
  if (lanes == v.all()) return enqueue_plain(std::span(v.mbuf).first(v.size), now);
  std::array<rte_mbuf*, kBurst> frames;
  std::size_t n = 0;
  for (; lanes != 0; lanes &= lanes - 1)
    frames[n++] = v.mbuf[static_cast<std::size_t>(std::countr_zero(lanes))];
  enqueue_plain(std::span(frames).first(n), now);
}

void Egress::enqueue_classes(Time now) {
  for (ClassRun run; split_.take(run);) {
    markers_.mark(run, now);
    enqueue_class(run, now);
  }
}

// Enqueues by RIO, and acts on its decisions.
void Egress::enqueue_class(const ClassRun& run, Time now) {
  const std::size_t n = scheduler_.enqueue(run.class_index, run.packets, run.ecn_capable, notices_, now);
  if (domains_.watches(run.class_index)) [[unlikely]]
    domains_.note(run, now);
  for (std::size_t i = 0; i < n; ++i) {
    const auto& [at, result] = notices_[i];
    const Packet& p = run.packets[at];
    if (result.event != CongestionEvent::none) domains_.arrival(run.class_index, result.event, p, now);
    if (result.mark) set_ce(p);
    if (result.drop != DropReason::none)
      disposal_.drop_owned(static_cast<rte_mbuf*>(p.handle), port_, result.drop);
  }
}

std::size_t Egress::transmit(std::span<rte_mbuf*> room, Time now) {
  shaper_.advance(now);
  if (plain_) return plain_->dequeue(room, shaper_, now);
  const std::span<Packet> out{packets_.data(), std::min(room.size(), kBurst)};
  const std::size_t n =
      tree_ ? tree_->hierarchy().dequeue(now, shaper_, out) : scheduler_.dequeue(now, shaper_, out);
  for (std::size_t i = 0; i < n; ++i) room[i] = static_cast<rte_mbuf*>(packets_[i].handle);
  return n;
}

void Egress::advance(Time now) {
  if (growing_) [[unlikely]]
    growing_ = scheduler_.grow(kSlice);
  if (tree_ && tree_->changing()) [[unlikely]]
    advance_tree(now);
  domains_.advance({tree_ ? nullptr : &scheduler_, tree_ ? &tree_->hierarchy() : nullptr, port_}, now);
  markers_.advance(now);
}

Time Egress::next_departure(Time now) const {
  if (depth() == 0) return kNever;
  const Time queues = plain_ ? now : tree_ ? tree_->hierarchy().next_event(now) : scheduler_.next_event(now);
  return std::max(queues, shaper_.next_event(now));
}

Time Egress::next_timer() const {
  if (tree_ && tree_->changing()) return Time{};  // the next turn
  return std::min(domains_.next_event(), markers_.next_event());
}

void Egress::enqueue_plain(std::span<rte_mbuf* const> burst, Time now) {
  counters_.enqueued += burst.size();
  const std::size_t admitted = plain_->enqueue(burst, now);
  for (rte_mbuf* m : burst.subspan(admitted)) disposal_.drop_owned(m, port_, refusal_);
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

void Egress::enqueue_handed(std::span<const HandedPacket> burst, Time now) {
  if (plain_) {
    std::array<rte_mbuf*, kBurst> frames;
    std::transform(burst.begin(), burst.end(), frames.begin(),
                   [](const HandedPacket& p) { return p.mbuf(); });
    return enqueue_plain({frames.data(), burst.size()}, now);
  }
  counters_.enqueued += burst.size();
  if (tree_) return enqueue_tree(burst, now);
  const auto knows_the_classes = [&](const HandedPacket& p) { return p.layout() == layout_; };
  if (std::ranges::all_of(burst, knows_the_classes)) [[likely]] {
    split_.begin(burst, packets_);
  } else {
    std::ranges::transform(burst, packets_.begin(), [](const HandedPacket& p) {
      return Packet{p.mbuf(), kNoFlow, p.length()};
    });
    split_.begin({packets_.data(), burst.size()});
  }
  enqueue_classes(now);
}

void Egress::enqueue_frames(std::span<rte_mbuf* const> burst, Time now) {
  if (plain_) return enqueue_plain(burst, now);
  while (!burst.empty()) {
    const std::size_t n = std::min(burst.size(), packets_.size());
    for (std::size_t i = 0; i < n; ++i)
      packets_[i] = {burst[i], kNoFlow, static_cast<std::uint16_t>(burst[i]->pkt_len - RTE_ETHER_HDR_LEN)};
    enqueue({packets_.data(), n}, now);
    burst = burst.subspan(n);
  }
}

void Egress::enqueue_own(std::span<rte_mbuf* const> burst, Time now) {
  for (rte_mbuf* m : burst) {
    clear_owner(m);
    const std::uint16_t type = load_be16(rte_pktmbuf_mtod(m, const std::uint8_t*) + 12);
    const bool ip = type == RTE_ETHER_TYPE_IPV4 || type == RTE_ETHER_TYPE_IPV6;
    if (plain_ || (ip && !is_neighbor_discovery(m)))
      enqueue_frames({&m, 1}, now);
    else
      enqueue_control(m, now);
  }
}

void Egress::enqueue_control(rte_mbuf* m, Time now) {
  constexpr std::uint8_t kCs6 = 48;
  ++counters_.enqueued;
  Packet p{m, kNoFlow, static_cast<std::uint16_t>(m->pkt_len - RTE_ETHER_HDR_LEN), Precedence::in};
  if (tree_) {
    if (tree_->find(p, kCs6, arrivals_[0])) return offer(1, now);
    return disposal_.drop_owned(m, port_, DropReason::interface_gone);
  }
  p.verdict = scheduler_.enqueue(split_.class_of(kCs6), p, false, now).drop;
  if (p.verdict != DropReason::none) disposal_.drop_owned(m, port_, p.verdict);
}

// The path of a packet out of a port with queues below it: its interface's class, the aggregate there, the
// hierarchy.

void Egress::enqueue_tree(const Burst& v, LaneMask lanes, Time now) {
  counters_.enqueued += static_cast<std::size_t>(std::popcount(lanes));
  std::size_t n = 0;
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(lanes));
    Packet p{v.mbuf[i], kNoFlow, v.header[i].length};
    if (tree_->find_by(p, v.traffic_class(i), arrivals_[n])) [[likely]]
      ++n;
    else
      disposal_.drop_owned(v.mbuf[i], port_, DropReason::interface_gone);
  }
  offer_marked(n, now);
}

void Egress::enqueue_tree(std::span<Packet> burst, Time now) {
  std::size_t n = 0;
  for (Packet& p : burst) {
    if (tree_->find(p, arrivals_[n])) [[likely]]
      ++n;
    else
      disposal_.drop_owned(static_cast<rte_mbuf*>(p.handle), port_, DropReason::interface_gone);
  }
  offer_marked(n, now);
}

void Egress::enqueue_tree(std::span<const HandedPacket> burst, Time now) {
  std::size_t n = 0;
  for (const HandedPacket& h : burst) {
    Packet p{h.mbuf(), kNoFlow, h.length(), h.precedence()};
    const bool known = h.layout() == layout_ && !tree_->changing();
    Hierarchy::Arrival& arrival = arrivals_[n];
    if (known ? tree_->find(p, h.class_index(), h.ecn_capable(), arrival) : tree_->find(p, arrival))
      ++n;
    else
      disposal_.drop_owned(h.mbuf(), port_, DropReason::interface_gone);
  }
  offer_marked(n, now);
}

void Egress::offer_marked(std::size_t arrivals, Time now) {
  if (!markers_.all().empty()) [[unlikely]]
    arrivals = mark_arrivals(arrivals, now);
  offer(arrivals, now);
}

// enqueue_class() for packets that may all have different interfaces.
void Egress::offer(std::size_t arrivals, Time now) {
  const std::span<const Hierarchy::Arrival> all{arrivals_.data(), arrivals};
  if (domains_.watches_any()) [[unlikely]]
    for (const auto& a : all)
      if (a.interface == port_ && domains_.watches(a.class_index))
        domains_.note(a.class_index, a.packet, now);
  const std::size_t n = tree_->hierarchy().enqueue(all, notices_, now);
  for (std::size_t i = 0; i < n; ++i) {
    const auto& [at, result] = notices_[i];
    const Hierarchy::Arrival& a = arrivals_[at];
    auto* const m = static_cast<rte_mbuf*>(a.packet.handle);
    if (result.event != CongestionEvent::none) note_congestion(a, result.event, now);
    if (result.mark) set_ce(egress_ip(a.packet), is_v6(egress_ip(a.packet)));
    if (result.drop != DropReason::none) disposal_.drop_owned(m, port_, result.drop);
  }
}

// The port's own queues signal as everywhere. An interface's queues are one hop further: their signals are
// treated as another router's, so that only the paths behind the interface are held back. There are thousands
// of such queues, so none stores its contributors: there are samples only.
void Egress::note_congestion(const Hierarchy::Arrival& arrival, CongestionEvent event, Time now) {
  const Packet& p = arrival.packet;
  if (arrival.interface == port_) return domains_.arrival(arrival.class_index, event, p, now);
  if (event != CongestionEvent::eighth) return;
  if (!told_.permit(static_cast<Customer>(arrival.interface % kParts), now)) return;
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

// Each packet is a run of its own: few interfaces have an aggregate.
std::size_t Egress::mark_arrivals(std::size_t arrivals, Time now) {
  std::size_t left = 0;
  for (std::size_t i = 0; i < arrivals; ++i) {
    Hierarchy::Arrival a = arrivals_[i];
    if (const auto slot = tree_->plan().slot(static_cast<InterfaceIndex>(a.interface), a.class_index)) {
      ClassRun run{*slot, {&a.packet, 1}, {&a.ecn_capable, 1}};
      markers_.mark(run, now);
      if (run.packets.empty()) continue;
    }
    arrivals_[left++] = a;
  }
  return left;
}

void Egress::advance_tree(Time now) {
  tree_->advance(now);
  take_removed(now);
}

// Takes the packets of removed interfaces: those of existing interfaces, with other classes or without queues
// of their own, are enqueued again. For the law of counters they have been enqueued once.
void Egress::take_removed(Time now) {
  std::array<Packet, kBurst> removed;
  std::array<rte_mbuf*, kBurst> anew;
  for (std::size_t n = removed.size(); n == removed.size();) {
    n = tree_->hierarchy().take_removed(removed, now);
    std::size_t kept = 0;
    for (const Packet& p : std::span(removed).first(n)) {
      auto* const m = static_cast<rte_mbuf*>(p.handle);
      if (tree_->plan().exists(interface_of(m, port_)))
        anew[kept++] = m;
      else
        disposal_.drop_owned(m, port_, DropReason::interface_gone);
    }
    counters_.enqueued -= kept;
    enqueue_frames({anew.data(), kept}, now);
    if (n > 0) disposal_.flush();
  }
}

}  // namespace surety
