// SPDX-License-Identifier: BSD-3-Clause
#include "aqm/active_queue.h"

#include <algorithm>
#include <utility>

namespace surety {

ActiveQueue::ActiveQueue(const ActiveQueueParams& params, std::uint64_t seed)
    : ring_(params.limit), limit_(params.limit) {
  if (params.rio) rio_.emplace(*params.rio, seed);
}

void ActiveQueue::adopt(ActiveQueue& fresh, Time now) {
  settle(now);
  if (!fresh.rio_) {
    rio_.reset();
    detector_ = {};
  } else if (rio_) {
    rio_->adopt(*fresh.rio_);
  } else {
    rio_ = fresh.rio_;
  }
  std::swap(next_, fresh.next_);
  limit_ = std::min(fresh.limit_, ring_.most());
  if (fresh.limit_ > ring_.most()) next_ = {std::move(fresh.ring_), fresh.limit_, head_};
}

// Positions run on and wrap: only their differences mean anything. Packets do not change while they wait.
bool ActiveQueue::grow(std::uint32_t& budget) {
  if (next_.limit == 0) return false;
  std::uint32_t at = static_cast<std::int32_t>(head_ - next_.copied) > 0 ? head_ : next_.copied;
  const std::uint32_t n = std::min(budget, tail_ - at);
  for (const std::uint32_t end = at + n; at != end; ++at)
    next_.ring.put(at, ring_.packet(at), ring_.time(at));
  budget -= n;
  next_.copied = at;
  if (at != tail_) return true;
  std::swap(ring_, next_.ring);
  limit_ = std::exchange(next_.limit, 0);
  return false;
}

[[gnu::noinline]] std::size_t ActiveQueue::enqueue(std::span<const Packet> packets,
                                                   std::span<const bool> ecn_capable,
                                                   std::span<Notice> notices, Time now) {
  if (accept_all(packets, now)) [[likely]]
    return 0;
  std::size_t noticed = 0;
  if (!rio_) {
    for (std::size_t i = 0; i < packets.size(); ++i) {
      notices[noticed] = {static_cast<std::uint8_t>(i), enqueue(packets[i], false, now)};
      noticed += notices[noticed].result.drop != DropReason::none;
    }
    return noticed;
  }
  std::size_t i = 0;
  while ((i += accept(packets.subspan(i), now)) < packets.size()) {
    notices[noticed] = {static_cast<std::uint8_t>(i), enqueue(packets[i], ecn_capable[i], now)};
    noticed += notices[noticed].needed();
    ++i;
  }
  return noticed;
}

bool ActiveQueue::accept_all(std::span<const Packet> packets, Time now) {
  const std::uint32_t depth = this->depth(), n = static_cast<std::uint32_t>(packets.size());
  if (n < 2 || depth + n > limit_) return false;
  const std::uint32_t ins = PacketTally(packets).ins, outs = n - ins;
  if (rio_ && !rio_->accept_all(ins, outs, in_depth_, depth, now)) return false;
  ring_.put(tail_, packets, now);
  tail_ += n;
  in_depth_ += ins;
  arrived(ins, outs);
  return true;
}

// What each arrival changes, in a local copy: members would be read back by each packet from where the one
// before it has just written them, which is as slow as all the rest.
std::size_t ActiveQueue::accept(std::span<const Packet> packets, Time now) {
  std::uint32_t depth = this->depth(), in_depth = in_depth_;
  Rio::Accepting rio(*rio_, in_depth, depth);
  const std::size_t room = std::min<std::size_t>(packets.size(), limit_ > depth ? limit_ - depth : 0);
  std::uint32_t n = 0;
  for (const Packet& packet : packets.first(room)) {
    const Precedence precedence = packet.precedence;
    if (!rio.accept(precedence, in_depth, depth)) break;
    in_depth += precedence == Precedence::in;
    ++depth;
    ++n;
  }
  if (n == 0) return 0;
  ring_.put(tail_, packets.first(n), now);
  const std::uint32_t ins = in_depth - in_depth_, outs = n - ins;
  rio.keep(*rio_, ins, outs);
  tail_ += n;
  in_depth_ = in_depth;
  arrived(ins, outs);
  return n;
}

// Of packets that were accepted without a question.
void ActiveQueue::arrived(std::uint32_t ins, std::uint32_t outs) {
  if (rio_ && outs > 0) detector_.out_arrival(false);  // they found no congestion
  counters_[index(Precedence::in)].arrivals += ins;
  counters_[index(Precedence::out)].arrivals += outs;
}

void ActiveQueue::remove(const PacketTally& t, Time now) {
  if (t.packets == 0) return;
  note_sojourn(t.packets, now);
  head_ += t.packets;
  in_depth_ -= t.ins;
  departed(Precedence::in, t.ins, t.in_bytes, now);
  departed(Precedence::out, t.outs(), t.out_bytes(), now);
}

// Of the first `packets`: mostly they came together.
void ActiveQueue::note_sojourn(std::uint32_t packets, Time now) {
  std::uint32_t at = head_;
  for (const std::uint32_t end = head_ + packets; at != end;) {
    const Time came = ring_.time(at);
    std::uint32_t run = end - at;
    if (ring_.time(end - 1) != came)
      for (run = 1; ring_.time(at + run) == came;) ++run;
    sojourn_.add(now - came, run);
    at += run;
  }
}

void ActiveQueue::departed(Precedence precedence, std::uint64_t packets, std::uint64_t bytes, Time now) {
  QueueCounters& counters = counters_[index(precedence)];
  counters.departures += packets;
  counters.departed_bytes += bytes;
  if (rio_ && packets > 0) rio_->depart(precedence, in_depth_, depth(), now);
}

}  // namespace surety
