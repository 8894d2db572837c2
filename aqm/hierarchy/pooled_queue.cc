// SPDX-License-Identifier: BSD-3-Clause
#include "aqm/hierarchy/pooled_queue.h"

#include "aqm/port_shaper.h"

namespace surety {

void PooledQueue::adopt(const InterfaceParams::Class& before, const InterfaceParams::Class& after,
                        PacketPool& pool, std::uint64_t seed, Time now) {
  decision_.adopt(before, after, RioState(seed), content(), now);
  pool.change_share(chunks_, before.share, after.share);
  deficit = std::min(deficit, after.quantum);
  change_bucket(cap_, before.cap, before.capped, after.cap, now);
}

QueueCounters PooledQueue::counters(Precedence p) const {
  const std::size_t i = index(p);
  const Refusals& refused = refusals_[i];
  QueueCounters c;
  c.arrivals = admitted_[i] + refused.early_drops + refused.forced_drops + refused.overflow_drops;
  c.departures = admitted_[i] - waiting_[i].packets;
  c.departed_bytes = departed_bytes_[i];
  c.early_drops = refused.early_drops;
  c.forced_drops = refused.forced_drops;
  c.overflow_drops = refused.overflow_drops;
  c.ecn_marks = refused.ecn_marks;
  return c;
}

}  // namespace surety
