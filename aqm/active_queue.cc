// SPDX-License-Identifier: BSD-3-Clause
#include "aqm/active_queue.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace surety {

ActiveQueue::ActiveQueue(const ActiveQueueParams& params, std::uint64_t seed)
    : slots_(std::make_unique<Slot[]>(std::bit_ceil(params.limit + 1))),
      mask_(std::bit_ceil(params.limit + 1) - 1),
      limit_(params.limit) {
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
  limit_ = std::min(fresh.limit_, mask_);
  if (fresh.limit_ > mask_) next_ = {std::move(fresh.slots_), fresh.mask_, fresh.limit_, head_};
}

// Positions run on and wrap: only their differences mean anything. Packets do not change while they wait.
bool ActiveQueue::grow(std::uint32_t& budget) {
  if (next_.limit == 0) return false;
  std::uint32_t at = static_cast<std::int32_t>(head_ - next_.copied) > 0 ? head_ : next_.copied;
  const std::uint32_t n = std::min(budget, tail_ - at), mask = mask_, next_mask = next_.mask;
  Slot* const next = next_.slots.get();
  const Slot* const slots = slots_.get();
  for (const std::uint32_t end = at + n; at != end; ++at) next[at & next_mask] = slots[at & mask];
  budget -= n;
  next_.copied = at;
  if (at != tail_) return true;
  slots_.swap(next_.slots);
  mask_ = next_mask;
  limit_ = std::exchange(next_.limit, 0);
  return false;
}

// What each arrival changes, in a local copy: members would be read back by each packet from where the one
// before it has just written them, which is as slow as all the rest.
[[gnu::noinline]] std::size_t ActiveQueue::enqueue(std::span<const Packet> packets,
                                                   std::span<const bool> ecn_capable,
                                                   std::span<Notice> notices, Time now) {
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

std::size_t ActiveQueue::accept(std::span<const Packet> packets, Time now) {
  std::uint32_t depth = this->depth(), in_depth = in_depth_;
  Rio::Accepting rio(*rio_, in_depth, depth);
  const std::uint32_t head = head_, mask = mask_;
  Slot* const slots = slots_.get();
  const std::size_t room = std::min<std::size_t>(packets.size(), limit_ > depth ? limit_ - depth : 0);
  std::uint32_t n = 0;
  for (const Packet& packet : packets.first(room)) {
    const Precedence precedence = packet.precedence;
    if (!rio.accept(precedence, in_depth, depth)) break;
    Slot& slot = slots[(head + depth++) & mask];
    std::memcpy(&slot.packet, &packet, sizeof packet);  // whole, as dequeue() reads it
    slot.enqueued = now;
    in_depth += precedence == Precedence::in;
    ++n;
  }
  if (n == 0) return 0;
  const std::uint32_t ins = in_depth - in_depth_, outs = n - ins;
  rio.keep(*rio_, ins, outs);
  if (outs > 0) detector_.out_arrival(false);  // an OUT packet that RIO accepts found no congestion
  tail_ = head + depth;
  in_depth_ = in_depth;
  counters_[index(Precedence::in)].arrivals += ins;
  counters_[index(Precedence::out)].arrivals += outs;
  return n;
}

void ActiveQueue::dequeue(std::span<Packet> out, Time now) {
  // Counted in registers: memory that each packet would read back just after the last one wrote it is slow.
  std::uint64_t ins = 0, in_bytes = 0, all_bytes = 0;
  Time enqueued = now;
  std::uint64_t run = 0;  // packets that came at `enqueued`
  std::uint32_t head = head_;
  const std::uint32_t mask = mask_;
  const Slot* const slots = slots_.get();
  for (Packet& p : out) {
    const Slot& slot = slots[head++ & mask];
    std::memcpy(&p, &slot.packet, sizeof p);
    const std::uint64_t in = slot.packet.precedence == Precedence::in, length = slot.packet.length;
    ins += in;
    in_bytes += -in & length;
    all_bytes += length;
    if (slot.enqueued != enqueued) {
      if (run > 0) sojourn_.add(now - enqueued, run);
      enqueued = slot.enqueued;
      run = 0;
    }
    ++run;
  }
  head_ = head;
  if (run > 0) sojourn_.add(now - enqueued, run);
  in_depth_ -= static_cast<std::uint32_t>(ins);
  departed(Precedence::in, ins, in_bytes, now);
  departed(Precedence::out, out.size() - ins, all_bytes - in_bytes, now);
}

void ActiveQueue::departed(Precedence precedence, std::uint64_t packets, std::uint64_t bytes, Time now) {
  QueueCounters& counters = counters_[index(precedence)];
  counters.departures += packets;
  counters.departed_bytes += bytes;
  if (rio_ && packets > 0) rio_->depart(precedence, in_depth_, depth(), now);
}

}  // namespace surety
