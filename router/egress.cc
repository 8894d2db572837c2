// One page: what a packet meets on its way out of a port.
#include "router/egress.h"

#include <rte_ether.h>

#include <cstring>

#include "router/ip_bytes.h"

namespace surety {

namespace {
// Frames at egress carry no tags.
std::uint8_t* ip_of(const Packet& p) {
  return ip_header(static_cast<rte_mbuf*>(p.handle), RTE_ETHER_HDR_LEN);
}
void set_dscp(std::uint8_t* ip, std::uint8_t dscp) {
  surety::set_dscp(ip, is_v6(ip), dscp);
}
void set_ce(std::uint8_t* ip) {
  surety::set_ce(ip, is_v6(ip));
}
}  // namespace

[[gnu::flatten]] void Egress::enqueue(std::span<Packet> burst, Time now) {
  counters_.enqueued += burst.size();
  // By value, and all of it inline (flatten): a byte written into a descriptor in memory makes the 16-byte
  // copy into the queue wait for it.
  for (Packet p : burst) {
    const Arrival arrival = find_class(p);
    if (Aggregate* aggregate = aggregate_of_[arrival.class_index]) mark_aggregate(*aggregate, p, now);
    queue(p, arrival, now);
  }
}

void Egress::enqueue_plain(std::span<rte_mbuf* const> burst, Time now) {
  counters_.enqueued += burst.size();
  const std::size_t admitted = plain_->enqueue(burst, now);
  for (rte_mbuf* m : burst.subspan(admitted)) exits_.drop(m, port_, DropReason::overflow);
}

std::size_t Egress::transmit(std::span<rte_mbuf*> room, Time now) {
  shaper_.advance(now);
  if (plain_) return plain_->dequeue(room, shaper_, now);
  std::array<Packet, kVector> burst;
  const std::size_t n = scheduler_.dequeue(now, shaper_, {burst.data(), std::min(room.size(), kVector)});
  for (std::size_t i = 0; i < n; ++i) room[i] = static_cast<rte_mbuf*>(burst[i].handle);
  return n;
}

// The DSCP decides the class and the drop precedence: the service's conditioner, or a router before us, has
// set it.
Egress::Arrival Egress::find_class(Packet& p) const {
  const std::uint8_t byte = traffic_class(ip_of(p));
  const auto entry = classes_.by_dscp[byte >> 2];
  p.precedence = entry.precedence;
  return {entry.class_index, ecn_capable(byte)};
}

// ARD and ARM (PAPERS.md): exact, because the aggregate exists only here, at its egress.
void Egress::mark_aggregate(Aggregate& a, Packet& p, Time now) {
  switch (a.marker.offer(p.precedence, p.length, now)) {
    case ArdVerdict::pass:
      ++(p.precedence == Precedence::in ? a.counters.passed_in : a.counters.passed_out);
      break;
    case ArdVerdict::remark:
      ++a.counters.remarked;
      p.precedence = Precedence::out;
      set_dscp(ip_of(p), a.out_dscp);
      break;
    case ArdVerdict::drop:
      ++a.counters.dropped;
      p.verdict = DropReason::ard;
      break;
  }
}

void Egress::queue(Packet& p, Arrival arrival, Time now) {
  if (p.verdict == DropReason::none) {
    const auto result = scheduler_.enqueue(arrival.class_index, p, arrival.ecn_capable, now);
    p.verdict = result.drop;
    if (result.event != CongestionEvent::none) signal(arrival.class_index, result.event, ip_of(p), now);
    if (result.mark) set_ce(ip_of(p));
  }
  if (p.verdict != DropReason::none) exits_.drop(static_cast<rte_mbuf*>(p.handle), port_, p.verdict);
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

void Egress::signal(std::size_t class_index, CongestionEvent event, const std::uint8_t* ip, Time now) {
  for (std::size_t i = 0; i < controllers_.size(); ++i) {
    if (controller_class_[i] != class_index) continue;
    // What expires now comes first: until an onset the queue was not congested, until an eighth it was.
    controllers_[i].advance(now, event == CongestionEvent::eighth);
    if (event == CongestionEvent::onset) controllers_[i].onset(now);
    if (event == CongestionEvent::eighth) controllers_[i].eighth(now);
  }
  if (signals_on_ && event == CongestionEvent::eighth) ask_for_signal(class_index, ip, now);
}

[[gnu::noinline]] void Egress::ask_for_signal(std::size_t class_index, const std::uint8_t* ip, Time now) {
  CongestionSignal s{{}, {}, port_, static_cast<std::uint8_t>(class_index), now};
  s.source.v6 = s.destination.v6 = is_v6(ip);
  const std::size_t length = is_v6(ip) ? 16 : 4, at = is_v6(ip) ? 8 : 12;
  std::memcpy(s.source.bytes.data(), ip + at, length);
  std::memcpy(s.destination.bytes.data(), ip + at + length, length);
  signals_.push(s);
}

Time Egress::next_departure(Time now) const {
  if (depth() == 0) return kNever;
  return std::max(plain_ ? now : scheduler_.next_event(now), shaper_.next_event(now));
}

Time Egress::next_timer() const {
  Time t = kNever;
  for (const auto& c : controllers_) t = std::min(t, c.next_event());
  for (const auto& a : aggregates_) t = std::min(t, a.marker.next_event());
  return t;
}

}  // namespace surety
