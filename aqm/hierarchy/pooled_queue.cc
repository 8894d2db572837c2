// SPDX-License-Identifier: BSD-3-Clause
#include "aqm/hierarchy/pooled_queue.h"

#include <array>

#include "aqm/port_shaper.h"

namespace surety {

void PooledQueue::adopt(const InterfaceParams::Class& before, const InterfaceParams::Class& after,
                        PacketPool& pool, std::uint64_t seed, Time now) {
  decision_.adopt(before, after, RioState(seed), content(), now);
  pool.change_share(chunks(), before.share, after.share);
  deficit = std::min(deficit, after.quantum);
  change_bucket(cap_, before.cap, before.capped, after.cap, now);
}

QueueCounters PooledQueue::counters(Precedence p) const {
  const Refusals& refused = refusals_[index(p)];
  const bool out = p == Precedence::out, red = p == Precedence::red;
  // Red packets are counted apart, and among those that are not IN.
  const auto of = [&](const auto& counts, auto reds) {
    return red ? reds : out ? counts[1] - reds : counts[0];
  };
  const std::uint64_t admitted = of(admitted_, red_admitted_);
  QueueCounters c;
  c.arrivals = admitted + refused.early_drops + refused.forced_drops + refused.overflow_drops;
  c.departures = admitted - of(std::array{waiting_[0].packets, waiting_[1].packets}, red_waiting_);
  c.departed_bytes = of(departed_bytes_, red_departed_bytes_);
  c.early_drops = refused.early_drops;
  c.forced_drops = refused.forced_drops;
  c.overflow_drops = refused.overflow_drops;
  c.ecn_marks = refused.ecn_marks;
  return c;
}

}  // namespace surety
