// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/host/host.h"

#include <algorithm>
#include <cassert>

#include "endpoints/engine/demux.h"

namespace surety::endpoints {

namespace {

constexpr std::size_t kAhead = 8;  // flows whose engines are being fetched while another is polled

}  // namespace

Host::Host(const HostParams& params, Time now)
    : map_(params.max_flows, params.seed),
      wheel_(params.max_flows, params.timer_slot, now),
      lines_((params.engine_bytes + 63) / 64),
      hot_lines_(std::min(lines_, kHotLines)),
      engine_bytes_(lines_ * 64),
      engines_((std::size_t{params.max_flows} + 1) * lines_, HugeMemory::Pages::resident),
      rejections_(now),
      dccp_udp_port_(params.dccp_udp_port),
      dccp_udp_in_use_(kNoPort),
      answer_unknown_(params.answer_unknown) {}

Host::~Host() {
  for (FlowIndex f = 1; f <= map_.capacity(); ++f)
    if (map_[f].live) at(f)->~Engine();
}

std::size_t Host::memory_bytes() const {
  std::size_t n = sizeof *this + map_.memory_bytes() + wheel_.memory_bytes() + engines_.bytes();
  for (const auto& l : listeners_) n += l.capacity() * sizeof(Listener);
  return n;
}

// ---- flows -------------------------------------------------------------------------------------------

FlowIndex Host::take(Transport transport, const Tuple& tuple) {
  if (transport == Transport::dccp_udp) dccp_udp_in_use_ = dccp_udp_port_;
  const std::uint64_t hash = map_.hash(tuple, transport);
  if (map_.find(tuple, transport, hash) != kNoFlowIndex) return kNoFlowIndex;
  return map_.insert(tuple, transport, hash);
}

void Host::begin(FlowIndex f, Engine* engine) {
  assert(static_cast<void*>(engine) == room(f));
  if (const Time w = engine->next_wakeup(); w != kNever) wheel_.insert(f, w);
}

[[gnu::noinline]] void Host::remove(FlowIndex f) {
  const FlowRecord& r = map_[f];
  if (!r.live) return;
  if (observer_ != nullptr) observer_->on_forget(f, r.transport, r.tuple, *at(f), r.accepted);
  wheel_.remove(f);
  at(f)->~Engine();
  map_.erase(f);
}

void Host::close_all(Time now) {
  for (FlowIndex f = 1; f <= map_.capacity(); ++f) {
    if (!map_[f].live) continue;
    at(f)->close(now);
    reschedule(f, now);
  }
}

bool Host::listen(Transport transport, std::uint16_t port, Acceptor& acceptor) {
  if (acceptor.engine_bytes() > engine_bytes_) return false;
  auto& all = listeners_[static_cast<std::size_t>(transport)];
  const auto at = std::ranges::lower_bound(all, port, {}, &Listener::port);
  if (at != all.end() && at->port == port) return false;
  all.insert(at, {port, &acceptor});
  if (transport == Transport::dccp_udp) dccp_udp_in_use_ = dccp_udp_port_;
  return true;
}

Acceptor* Host::listener(Transport transport, std::uint16_t port) const {
  const auto& all = listeners_[static_cast<std::size_t>(transport)];
  const auto at = std::ranges::lower_bound(all, port, {}, &Listener::port);
  if (at != all.end() && at->port == port) return at->acceptor;
  const bool any_port = transport == Transport::dccp_udp && !all.empty() && all.front().port == 0;
  return any_port ? all.front().acceptor : nullptr;
}

// ---- receiving ---------------------------------------------------------------------------------------

void Host::look_up(const IpPacket& packet, Arrival& a) const {
  Tuple tuple;
  a.refusal = demux(packet, dccp_udp_in_use_, tuple, a.transport);
  if (a.refusal != Refusal::none) return;
  a.local_port = tuple.local_port;
  a.remote_port = tuple.remote_port;
  a.candidate = kNoFlowIndex;
  a.hash = map_.hash(tuple, a.transport);
  map_.prefetch(a.hash);
}

Refusal Host::receive(const IpPacket& packet, Time now) {
  Arrival a;
  look_up(packet, a);
  if (a.refusal == Refusal::none) a.candidate = map_.candidate(a.hash);
  return deliver(packet, a, now);
}

void Host::receive(std::span<const IpPacket> burst, Time now) {
  for (; !burst.empty(); burst = burst.subspan(std::min(kBurst, burst.size()))) {
    const std::size_t n = std::min(kBurst, burst.size());
    for (std::size_t i = 0; i < n; ++i) look_up(burst[i], arrivals_[i]);
    for (std::size_t i = 0; i < n; ++i) {
      if (arrivals_[i].refusal != Refusal::none) continue;
      const FlowIndex f = arrivals_[i].candidate = map_.candidate(arrivals_[i].hash);
      prefetch_engine(f);
      wheel_.prefetch(f);
    }
    for (std::size_t i = 0; i < n; ++i) deliver(burst[i], arrivals_[i], now);
  }
}

Refusal Host::deliver(const IpPacket& packet, const Arrival& a, Time now) {
  Refusal r = a.refusal;
  if (r == Refusal::none) {
    r = a.transport == Transport::dccp_udp ? hand_over(without_udp(packet), a, now)
                                           : hand_over(packet, a, now);
  }
  if (r != Refusal::none) [[unlikely]]
    ++refusals_[static_cast<std::size_t>(r)];
  return r;
}

// Compares addresses in place, without building a tuple.
bool Host::is_of(FlowIndex f, const IpPacket& packet, const Arrival& a) const {
  const FlowRecord& r = map_[f];
  return r.live && r.transport == a.transport && r.tuple.local_port == a.local_port &&
         r.tuple.remote_port == a.remote_port && r.tuple.remote == packet.source &&
         r.tuple.local == packet.destination;
}

Refusal Host::hand_over(const IpPacket& packet, const Arrival& a, Time now) {
  if (!is_of(a.candidate, packet, a)) [[unlikely]]
    return find_and_give(packet, a, now);
  const Refusal r = give(a.candidate, packet, now);
  if (r != Refusal::closed || !map_[a.candidate].over) [[likely]]
    return r;
  remove(a.candidate);
  return begin_and_give(packet, a, now);
}

Refusal Host::give(FlowIndex f, const IpPacket& packet, Time now) {
  const Refusal r = at(f)->receive(packet, now);
  reschedule(f, now);
  return r;
}

// Slow path: no candidate, another flow with the same tag, or a flow that an earlier packet of the burst
// ended.
[[gnu::noinline]] Refusal Host::find_and_give(const IpPacket& packet, const Arrival& a, Time now) {
  const FlowIndex f = map_.find(a.tuple(packet), a.transport, a.hash);
  if (f != kNoFlowIndex) {
    const Refusal r = give(f, packet, now);
    if (r != Refusal::closed || !map_[f].over) return r;
    remove(f);
  }
  return begin_and_give(packet, a, now);
}

[[gnu::noinline]] Refusal Host::begin_and_give(const IpPacket& packet, const Arrival& a, Time now) {
  Refusal refusal = Refusal::no_listener;
  const FlowIndex f = accept(packet, a, now, refusal);
  if (f != kNoFlowIndex) return give(f, packet, now);
  if (answer_unknown_) rejections_.consider(packet, a.transport, a.tuple(packet), refusal, now);
  return refusal;
}

FlowIndex Host::accept(const IpPacket& packet, const Arrival& a, Time now, Refusal& refusal) {
  Acceptor* const acceptor = listener(a.transport, a.local_port);
  if (acceptor == nullptr) return kNoFlowIndex;
  const Tuple tuple = a.tuple(packet);
  const FlowIndex f = map_.insert(tuple, a.transport, a.hash);
  if (f == kNoFlowIndex) {
    refusal = Refusal::flow_limit;
    return f;
  }
  Engine* const engine = acceptor->accept(room(f), tuple, packet, now, refusal);
  if (engine == nullptr) {
    map_.erase(f);
    return kNoFlowIndex;
  }
  map_[f].accepted = true;
  begin(f, engine);
  return f;
}

// ---- waking ------------------------------------------------------------------------------------------

std::size_t Host::poll(Room room, Time now) {
  std::size_t n = rejections_.write(room);
  std::array<FlowIndex, kBurst> due;
  while (n < room.size()) {
    const std::size_t k = wheel_.expire(now, std::span(due).first(std::min(kBurst, room.size() - n)));
    if (k == 0) break;
    for (std::size_t i = 0; i < std::min(k, kAhead); ++i) prefetch_engine(due[i]);
    std::size_t i = 0;
    for (; i < k && n < room.size(); ++i) {
      if (i + kAhead < k) prefetch_engine(due[i + kAhead]);
      n += wake(due[i], room.subspan(n), now);
    }
    for (std::size_t left = k; left > i; --left) wheel_.enqueue_first(due[left - 1]);
  }
  return n;
}

std::size_t Host::wake(FlowIndex f, Room room, Time now) {
  Engine* const e = at(f);
  const std::size_t n = e->poll(room, now);
  const Time w = e->next_wakeup();
  if (w == kNever) {
    rest(f, now);
  } else if (w <= now && n == room.size()) {
    wheel_.enqueue(f);
  } else {
    // Less than the room it was given, so nothing is due now, whatever it says: not before the next slot.
    wheel_.insert(f, std::max(w, now + Duration(1)));
  }
  return n;
}

// A timer that has only moved away is left where it is: it wakes the flow once too often, which costs less
// than to move it with every packet.
void Host::reschedule(FlowIndex f, Time now) {
  const Time w = at(f)->next_wakeup();
  if (w <= now || w == kNever || !wheel_.covers(f, w)) reschedule_to(f, w, now);
}

[[gnu::noinline]] void Host::reschedule_to(FlowIndex f, Time when, Time now) {
  if (when == kNever) {
    if (at(f)->state() == FlowState::closed) rest(f, now);
  } else if (when > now) {
    wheel_.insert(f, when);
  } else if (!wheel_.covers(f, Time::min())) {
    wheel_.enqueue(f);
  }
}

// Nothing to wait for but a packet, or the end.
[[gnu::noinline]] void Host::rest(FlowIndex f, Time now) {
  if (at(f)->state() != FlowState::closed || !map_[f].accepted) return wheel_.remove(f);
  FlowRecord& r = map_[f];
  if (!r.over) {
    r.over = true;
    r.forget = now + kLinger;
  }
  if (r.forget <= now) return remove(f);
  wheel_.insert(f, r.forget);
}

Time Host::next_wakeup() const {
  return rejections_.empty() ? wheel_.next_event() : kNow;
}

}  // namespace surety::endpoints
