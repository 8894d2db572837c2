// SPDX-License-Identifier: BSD-3-Clause
// One page: what a packet meets on its way out of a port.
#include "router/egress.h"

#include <rte_ether.h>

#include <cstring>

#include "router/wire/ip_bytes.h"

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

void Egress::enqueue(std::span<Packet> burst, Time now) {
  counters_.enqueued += burst.size();
  Arrivals a;
  a.packets = burst.data();
  a.size = burst.size();
  bool others = false;  // than the first one's class
  for (std::size_t i = 0; i < a.size; ++i) {
    const Arrival arrival = find_class(burst[i], by_dscp_);
    a.class_of[i] = arrival.class_index;
    a.ecn_capable[i] = arrival.ecn_capable;
    others |= arrival.class_index != a.class_of[0];
  }
  enqueue_classes(a, others, now);
}

// `others`: not all are of the first one's class.
void Egress::enqueue_classes(Arrivals& a, bool others, Time now) {
  while (others) others = enqueue_first_class(a, now);
  if (a.size > 0) enqueue_class(a.class_of[0], {a.packets, a.size}, {a.ecn_capable.data(), a.size}, now);
}

// Takes the packets of the first one's class out, in their order: traffic is a mixture of classes, and each
// change from one to another has its price. Those that are left move up. Returns whether one of them is
// of another class than their first one. No branch depends on a packet's class: it is any.
bool Egress::enqueue_first_class(Arrivals& a, Time now) {
  const std::uint8_t first = a.class_of[0];
  std::array<bool, kVector> ecn_capable;
  std::size_t taken = 0, left = 0;
  bool others = false;
  for (std::size_t i = 0; i < a.size; ++i) {
    const std::uint8_t class_index = a.class_of[i];
    const bool ecn = a.ecn_capable[i], is_first = class_index == first;
    std::memcpy(&taken_[taken], &a.packets[i], sizeof(Packet));  // whole, as it is read
    std::memmove(&a.packets[left], &a.packets[i], sizeof(Packet));
    ecn_capable[taken] = a.ecn_capable[left] = ecn;
    a.class_of[left] = class_index;
    taken += is_first;
    left += !is_first;
    others |= !is_first & (class_index != a.class_of[0]);
  }
  a.size = left;
  enqueue_class(first, {taken_.data(), taken}, {ecn_capable.data(), taken}, now);
  return others;
}

// In their order.
void Egress::enqueue_class(std::size_t class_index, std::span<Packet> run, std::span<bool> ecn_capable,
                           Time now) {
  if (Aggregate* a = aggregate_of_[class_index]) run = run.first(mark_aggregate(*a, run, ecn_capable, now));
  const std::size_t n = scheduler_.enqueue(class_index, run, ecn_capable, notices_, now);
  for (std::size_t i = 0; i < n; ++i) {
    const auto& [at, result] = notices_[i];
    if (result.event != CongestionEvent::none) signal(class_index, result.event, run[at], now);
    if (result.mark) set_ce(ip_of(run[at]));
    if (result.drop != DropReason::none)
      exits_.drop(static_cast<rte_mbuf*>(run[at].handle), port_, result.drop);
  }
}

void Egress::enqueue_plain(std::span<rte_mbuf* const> burst, Time now) {
  counters_.enqueued += burst.size();
  const std::size_t admitted = plain_->enqueue(burst, now);
  for (rte_mbuf* m : burst.subspan(admitted)) exits_.drop(m, port_, DropReason::overflow);
}

HandedPacket Egress::describe(rte_mbuf* m, std::uint16_t length, const config::QueueSet& classes) const {
  if (plain_) return {m, length, 0, Precedence::out, false};
  Packet p{m, kNoFlow, length};
  const Arrival arrival = find_class(p, classes.by_dscp);
  return {m, length, arrival.class_index, p.precedence, arrival.ecn_capable};
}

void Egress::enqueue_handed(std::span<const HandedPacket> burst, Time now) {
  if (plain_) {
    std::array<rte_mbuf*, kVector> frames;
    std::transform(burst.begin(), burst.end(), frames.begin(),
                   [](const HandedPacket& p) { return p.mbuf(); });
    return enqueue_plain({frames.data(), burst.size()}, now);
  }
  counters_.enqueued += burst.size();
  Arrivals a;
  a.packets = packets_.data();
  a.size = burst.size();
  bool others = false;
  for (std::size_t i = 0; i < a.size; ++i) {
    packets_[i] = {burst[i].mbuf(), kNoFlow, burst[i].length(), burst[i].precedence()};
    a.class_of[i] = burst[i].class_index();
    a.ecn_capable[i] = burst[i].ecn_capable();
    others |= a.class_of[i] != a.class_of[0];
  }
  enqueue_classes(a, others, now);
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
    const std::uint16_t type = load_be16(rte_pktmbuf_mtod(m, const std::uint8_t*) + 12);
    const bool ip = type == RTE_ETHER_TYPE_IPV4 || type == RTE_ETHER_TYPE_IPV6;
    if (ip || plain_)
      enqueue_frames({&m, 1}, now);
    else
      enqueue_control(m, now);
  }
}

void Egress::enqueue_control(rte_mbuf* m, Time now) {
  constexpr std::uint8_t kCs6 = 48;
  ++counters_.enqueued;
  Packet p{m, kNoFlow, static_cast<std::uint16_t>(m->pkt_len - RTE_ETHER_HDR_LEN), Precedence::in};
  p.verdict = scheduler_.enqueue(by_dscp_[kCs6].class_index, p, false, now).drop;
  if (p.verdict != DropReason::none) exits_.drop(m, port_, p.verdict);
}

std::size_t Egress::transmit(std::span<rte_mbuf*> room, Time now) {
  shaper_.advance(now);
  if (plain_) return plain_->dequeue(room, shaper_, now);
  const std::size_t n = scheduler_.dequeue(now, shaper_, {packets_.data(), std::min(room.size(), kVector)});
  for (std::size_t i = 0; i < n; ++i) room[i] = static_cast<rte_mbuf*>(packets_[i].handle);
  return n;
}

// The DSCP decides the class and the drop precedence: the service's conditioner, or a router before us, has
// set it.
Egress::Arrival Egress::find_class(Packet& p, const ClassesByDscp& by_dscp) {
  const std::uint8_t byte = traffic_class(ip_of(p));
  const auto entry = by_dscp[byte >> 2];
  p.precedence = entry.precedence;
  return {entry.class_index, ecn_capable(byte)};
}

// ARD and ARM: exact, because the aggregate exists only here, at its egress. Returns how many are left.
std::size_t Egress::mark_aggregate(Aggregate& a, std::span<Packet> run, std::span<bool> ecn_capable,
                                   Time now) {
  std::array<BurstTally, kPrecedences> tally{};
  for (const Packet& p : run) {
    const std::uint32_t in = p.precedence == Precedence::in;
    tally[0].packets += in;
    tally[0].bytes += in * p.length;
    tally[1].bytes += p.length;
  }
  tally[1].packets = static_cast<std::uint32_t>(run.size()) - tally[0].packets;
  tally[1].bytes -= tally[0].bytes;
  if (a.marker.pass(tally[0], tally[1], now)) [[likely]] {
    a.counters.passed_in += tally[0].packets;
    a.counters.passed_out += tally[1].packets;
    return run.size();
  }
  std::size_t left = 0;
  for (std::size_t i = 0; i < run.size(); ++i) {
    Packet p = run[i];
    if (!mark(a, p, now)) {
      exits_.drop(static_cast<rte_mbuf*>(p.handle), port_, DropReason::ard);
      continue;
    }
    ecn_capable[left] = ecn_capable[i];
    run[left++] = p;
  }
  return left;
}

// false: it is to be dropped.
bool Egress::mark(Aggregate& a, Packet& p, Time now) {
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
      return false;
  }
  return true;
}

void Egress::advance(Time now) {
  if (growing_) [[unlikely]]
    growing_ = scheduler_.grow(kSlice);
  for (Controller& c : controllers_) {
    if (now < c.csa.next_event()) continue;
    ActiveQueue& queue = scheduler_.queue(c.class_index);
    queue.settle(now);  // an idle queue is not congested any more
    c.csa.advance(now, queue.congested());
    publish(c);
  }
  for (auto& a : aggregates_)
    if (now >= a.marker.next_event()) a.marker.advance(now);
}

void Egress::signal(std::size_t class_index, CongestionEvent event, const Packet& p, Time now) {
  for (Controller& c : controllers_) {
    if (c.class_index != class_index) continue;
    // What expires now comes first: until an onset the queue was not congested, until an eighth it was.
    c.csa.advance(now, event == CongestionEvent::eighth);
    if (event == CongestionEvent::onset) c.csa.onset(now);
    if (event == CongestionEvent::eighth) c.csa.eighth(now);
    publish(c);
  }
  if (signals_on_ && event == CongestionEvent::eighth) ask_for_signal(class_index, p, now);
}

[[gnu::noinline]] void Egress::ask_for_signal(std::size_t class_index, const Packet& p, Time now) {
  CongestionSignal s = signal_about({ip_of(p), p.length});
  s.port = port_;
  s.class_index = static_cast<std::uint8_t>(class_index);
  s.time = now;
  signals_.push(s);
}

Time Egress::next_departure(Time now) const {
  if (depth() == 0) return kNever;
  return std::max(plain_ ? now : scheduler_.next_event(now), shaper_.next_event(now));
}

Time Egress::next_timer() const {
  Time t = kNever;
  for (const auto& c : controllers_) t = std::min(t, c.csa.next_event());
  for (const auto& a : aggregates_) t = std::min(t, a.marker.next_event());
  return t;
}

}  // namespace surety
