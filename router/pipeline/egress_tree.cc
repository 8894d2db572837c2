// SPDX-License-Identifier: BSD-3-Clause
// The path of a packet out of a port with queues below it: its interface's class, the aggregate there, the
// hierarchy.
#include "router/pipeline/egress.h"

#include <bit>

namespace surety {

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
