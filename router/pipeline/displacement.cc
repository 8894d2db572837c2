// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/displacement.h"

namespace surety {

FlowId Displacement::choose(Opener by, const Snapshot& snapshot, Time now) {
  std::uint32_t& left = holders_.within(by.customer) ? within_left_ : beyond_left_;
  if (left == 0) return kNoFlow;
  const Victim gone = victim(holders_.candidates(by.customer), by, snapshot, now);
  if (!gone.fairer) --left;
  return gone.id;
}

FlowId Displacement::would_choose(Opener by, const Snapshot& snapshot, Time now) const {
  return victim(holders_.next_candidates(by.customer), by, snapshot, now).id;
}

Displacement::Victim Displacement::victim(const FlowHolders::Candidates& found, Opener by,
                                          const Snapshot& snapshot, Time now) const {
  FlowId gone = oldest(found.largest.ids(), false, by.tagged, snapshot, now);
  if (gone == kNoFlow) gone = oldest(found.any.ids(), false, by.tagged, snapshot, now);
  if (gone != kNoFlow) return {gone, true};
  return {oldest(found.own.ids(), true, by.tagged, snapshot, now), false};
}

FlowId Displacement::oldest(std::span<const FlowId> ids, bool own, bool tagged, const Snapshot& snapshot,
                            Time now) const {
  for (const FlowId id : ids) __builtin_prefetch(&flows_[id]);
  FlowId oldest = kNoFlow;
  for (const FlowId id : ids)
    if (may_go(id, own, tagged, snapshot, now) &&
        (oldest == kNoFlow || flows_.idle(id, now) > flows_.idle(oldest, now)))
      oldest = id;
  return oldest;
}

// Packets of this burst, and a contract that is about to get a flow, have touched their records in this tick:
// none of these is removed.
bool Displacement::may_go(FlowId id, bool own, bool tagged, const Snapshot& snapshot, Time now) const {
  const FlowRecord& r = flows_[id];
  const Duration idle = flows_.idle(id, now);
  if ((r.flags & FlowRecord::sticky) != 0 || idle <= Duration::zero()) return false;
  if ((r.flags & FlowRecord::is_shared) != 0) return !holders_.referred_to(id) && idle >= kEmbryonic;
  return !has_own_state(r, snapshot) || idle >= kEmbryonic ||
         (!own && tagged && CustomerHasher::tagged(r.rest));
}

}  // namespace surety
