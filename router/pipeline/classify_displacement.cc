// SPDX-License-Identifier: BSD-3-Clause
// Selects the record that is removed for a new flow without room.
#include "router/pipeline/classify_stage.h"

namespace surety {

// Packets of this burst, and a contract that is about to get a flow, have touched their records in this tick:
// none of these is removed.
bool ClassifyStage::may_go(FlowId id, bool own, bool tagged, Time now) const {
  const FlowRecord& r = flows_[id];
  const Duration idle = flows_.idle(id, now);
  if ((r.flags & FlowRecord::sticky) != 0 || idle <= Duration::zero()) return false;
  if ((r.flags & FlowRecord::is_shared) != 0) return !holders_.referred_to(id) && idle >= kEmbryonic;
  return !has_own_state(r) || idle >= kEmbryonic || (!own && tagged && CustomerHasher::tagged(r.rest));
}

FlowId ClassifyStage::oldest(std::span<const FlowId> ids, bool own, bool tagged, Time now) const {
  for (const FlowId id : ids) __builtin_prefetch(&flows_[id]);
  FlowId oldest = kNoFlow;
  for (const FlowId id : ids)
    if (may_go(id, own, tagged, now) &&
        (oldest == kNoFlow || flows_.idle(id, now) > flows_.idle(oldest, now)))
      oldest = id;
  return oldest;
}

bool ClassifyStage::displace(Opener by, Time now) {
  std::uint32_t& left = holders_.within(by.customer) ? within_left_ : beyond_left_;
  if (left == 0) return false;
  const FlowHolders::Candidates found = holders_.candidates(by.customer);
  FlowId gone = oldest(found.largest.ids(), false, by.tagged, now);
  if (gone == kNoFlow) gone = oldest(found.any.ids(), false, by.tagged, now);
  const bool fairer = gone != kNoFlow;
  if (!fairer) gone = oldest(found.own.ids(), true, by.tagged, now);
  if (!fairer) --left;
  if (gone == kNoFlow || (limited_ && !creations_.permit(by.customer, now))) return false;
  closed(gone);
  flows_.remove(gone);
  return true;
}

}  // namespace surety
