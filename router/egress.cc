// One page: what a packet meets on its way out of a port.
#include "router/egress.h"

#include <rte_ether.h>

#include "router/ip_bytes.h"

namespace surety {

namespace {
// Frames at egress carry no tags.
std::uint8_t* ip_of(const Packet& p) { return ip_header(static_cast<rte_mbuf*>(p.handle), RTE_ETHER_HDR_LEN); }
void set_dscp(std::uint8_t* ip, std::uint8_t dscp) { surety::set_dscp(ip, is_v6(ip), dscp); }
void set_ce(std::uint8_t* ip) { surety::set_ce(ip, is_v6(ip)); }

std::vector<ClassParams> scheduling(const config::QueueSet& set) {
  std::vector<ClassParams> classes;
  for (const auto& c : set.classes) classes.push_back(c.scheduling);
  return classes;
}

std::vector<Egress::Aggregate> make_aggregates(const Snapshot& snapshot, PortIndex port, Time now, std::uint64_t seed) {
  std::vector<Egress::Aggregate> aggregates;
  for (std::size_t i = 0; i < snapshot.config.aggregates.size(); ++i) {
    const config::Aggregate& a = snapshot.config.aggregates[i];
    if (a.port == port) aggregates.push_back({i, a.class_index, a.out_dscp, ArdMarker(a.marker, now, seed + i), {}});
  }
  return aggregates;
}
}

Egress::Egress(const Snapshot& snapshot, PortIndex port, PortCounters& counters, Exits& exits, Time now,
               std::uint64_t seed)
    : classes_(snapshot.queues[port]),
      port_(port),
      counters_(counters),
      exits_(exits),
      scheduler_(scheduling(classes_), snapshot.config.ports[port].shaper.overhead, now, seed),
      shaper_(snapshot.config.ports[port].shaper, now),
      aggregates_(make_aggregates(snapshot, port, now, seed)),
      plain_(!snapshot.config.ports[port].queues) {
  for (std::size_t d = snapshot.domains.size(); d-- > 0;)
    if (snapshot.domains[d].port == port) first_domain_ = static_cast<std::uint16_t>(d);
  for (const auto& d : snapshot.domains) {
    if (d.port != port) continue;
    controllers_.emplace_back(d.params, now);
    controller_class_.push_back(d.class_index);
  }
}

void Egress::enqueue(std::span<Packet> burst, Time now) {
  counters_.enqueued += burst.size();
  if (plain_) return queue_plain(burst, now);
  find_classes(burst);
  if (!aggregates_.empty()) mark_aggregates(burst, now);
  queue(burst, now);
}

std::size_t Egress::transmit(std::span<rte_mbuf*> room, Time now) {
  shaper_.advance(now);
  std::array<Packet, kVector> burst;
  const std::size_t n = scheduler_.dequeue(now, shaper_, {burst.data(), std::min(room.size(), kVector)});
  for (std::size_t i = 0; i < n; ++i) room[i] = static_cast<rte_mbuf*>(burst[i].handle);
  return n;
}

// The DSCP decides the class and the drop precedence: the service's conditioner, or a router before us, has set it.
void Egress::find_classes(std::span<Packet> burst) {
  for (std::size_t i = 0; i < burst.size(); ++i) {
    traffic_class_[i] = traffic_class(ip_of(burst[i]));
    const auto entry = classes_.by_dscp[traffic_class_[i] >> 2];
    class_[i] = entry.class_index;
    burst[i].precedence = entry.precedence;
  }
}

// ARD and ARM (PAPERS.md): exact, because the aggregate exists only here, at its egress.
void Egress::mark_aggregates(std::span<Packet> burst, Time now) {
  for (std::size_t i = 0; i < burst.size(); ++i) {
    Aggregate* a = aggregate_of(class_[i]);
    if (a == nullptr) continue;
    Packet& p = burst[i];
    switch (a->marker.offer(p.precedence, p.length, now)) {
      case ArdVerdict::pass:
        ++(p.precedence == Precedence::in ? a->counters.passed_in : a->counters.passed_out);
        break;
      case ArdVerdict::remark:
        ++a->counters.remarked;
        p.precedence = Precedence::out;
        set_dscp(ip_of(p), a->out_dscp);
        break;
      case ArdVerdict::drop:
        ++a->counters.dropped;
        p.verdict = DropReason::ard;
        break;
    }
  }
}

void Egress::queue(std::span<Packet> burst, Time now) {
  for (std::size_t i = 0; i < burst.size(); ++i) {
    Packet& p = burst[i];
    if (p.verdict == DropReason::none) {
      const auto result = scheduler_.enqueue(class_[i], p, ecn_capable(traffic_class_[i]), now);
      p.verdict = result.drop;
      if (result.event != CongestionEvent::none) signal(class_[i], result.event, now);
      if (result.mark) set_ce(ip_of(p));
    }
    if (p.verdict != DropReason::none) exits_.drop(static_cast<rte_mbuf*>(p.handle), port_, p.verdict);
  }
}

// One class, no RIO, no aggregate: nothing to look up, nothing to decide.
void Egress::queue_plain(std::span<Packet> burst, Time now) {
  const std::size_t admitted = scheduler_.enqueue_tail(0, burst, now);
  for (const Packet& p : burst.subspan(admitted))
    exits_.drop(static_cast<rte_mbuf*>(p.handle), port_, DropReason::overflow);
}

void Egress::advance(Time now) {
  for (std::size_t i = 0; i < controllers_.size(); ++i) {
    if (now < controllers_[i].next_event()) continue;
    ActiveQueue& queue = scheduler_.queue(controller_class_[i]);
    queue.settle(now);  // an idle queue is not congested any more
    controllers_[i].advance(now, queue.congested());
  }
  for (auto& a : aggregates_)
    if (now >= a.marker.next_event()) a.marker.advance(now);
}

void Egress::discard(Time now) {
  for (std::size_t c = 0; c < scheduler_.classes(); ++c)
    while (!scheduler_.queue(c).empty()) rte_pktmbuf_free(static_cast<rte_mbuf*>(scheduler_.queue(c).dequeue(now).handle));
}

Egress::Aggregate* Egress::aggregate_of(std::size_t class_index) {
  for (auto& a : aggregates_)
    if (a.class_index == class_index) return &a;
  return nullptr;
}

void Egress::signal(std::size_t class_index, CongestionEvent event, Time now) {
  for (std::size_t i = 0; i < controllers_.size(); ++i) {
    if (controller_class_[i] != class_index) continue;
    if (event == CongestionEvent::onset) controllers_[i].onset(now);
    if (event == CongestionEvent::eighth) controllers_[i].eighth(now);
  }
}

Time Egress::next_event(Time now) const {
  Time t = scheduler_.depth() == 0 ? kNever : std::max(scheduler_.next_event(now), shaper_.next_event(now));
  for (const auto& c : controllers_) t = std::min(t, c.next_event());
  for (const auto& a : aggregates_) t = std::min(t, a.marker.next_event());
  return t;
}

}  // namespace surety
