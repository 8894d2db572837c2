// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/plain_queue.h"

#include <rte_ether.h>

#include <algorithm>
#include <bit>

#include "config/config.h"

namespace surety {

namespace {
constexpr std::uint32_t kMost = config::QueueClass::kDefaultLimit.most;  // the largest limit
}

PlainQueue::PlainQueue(std::uint32_t limit)
    : ring_(limit == 0 ? 1 : std::bit_ceil(std::max(limit, kMost))),
      bursts_(ring_.size()),
      mask_(static_cast<std::uint32_t>(ring_.size() - 1)),
      limit_(limit) {}

std::size_t PlainQueue::enqueue(std::span<rte_mbuf* const> burst, Time now) {
  const std::size_t admitted = std::min<std::size_t>(burst.size(), limit_ - std::min(limit_, depth()));
  for (rte_mbuf* m : burst.first(admitted)) ring_[tail_++ & mask_] = m;
  if (admitted > 0) bursts_[last_burst_++ & mask_] = {tail_, now};
  counters_.arrivals += burst.size();
  counters_.overflow_drops += burst.size() - admitted;
  return admitted;
}

std::size_t PlainQueue::dequeue(std::span<rte_mbuf*> room, PortShaper& shaper, Time now) {
  // In locals: each store of a packet might change what members hold.
  const std::size_t most = std::min<std::size_t>(room.size(), depth());
  rte_mbuf* const* const ring = ring_.data();
  const std::uint32_t mask = mask_;
  const bool limited = shaper.limited();
  std::uint32_t head = head_;
  std::uint64_t bytes = 0;
  std::size_t n = 0;
  for (; n < most && (!limited || shaper.ready()); ++n) {
    rte_mbuf* const m = ring[head++ & mask];
    room[n] = m;
    const std::uint32_t length = m->pkt_len - RTE_ETHER_HDR_LEN;
    if (limited) shaper.sent(length);
    bytes += length;
  }
  head_ = head;
  counters_.departures += n;
  counters_.departed_bytes += bytes;
  note_sojourn(now);
  return n;
}

// Packets of one burst have the same sojourn time: one update of the histogram for all of them.
void PlainQueue::note_sojourn(Time now) {
  while (counted_ != head_) {
    const ArrivalRun& b = bursts_[first_burst_ & mask_];
    // Positions wrap at 2^32: only their differences are used.
    const std::uint32_t in_burst = b.end - counted_, left = head_ - counted_;
    sojourn_.add(now - b.time, std::min(in_burst, left));
    if (left < in_burst) {
      counted_ = head_;
      return;
    }
    counted_ = b.end;
    ++first_burst_;
  }
}

}  // namespace surety
