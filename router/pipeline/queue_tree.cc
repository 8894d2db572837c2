// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/queue_tree.h"

namespace surety {

QueueTree::Update QueueTree::prepare(std::shared_ptr<const PortTree> plan, const PortTree* before,
                                     WireOverhead overhead, std::uint64_t seed) {
  HierarchyUpdate changes = plan->changes_from(before, seed);
  return {std::move(plan), std::move(changes), overhead};
}

QueueTree::QueueTree(std::shared_ptr<const PortTree> plan, WireOverhead overhead, Time now,
                     std::uint64_t seed)
    : plan_(std::move(plan)), hierarchy_({}, overhead, now), update_{nullptr, {}, overhead} {
  hierarchy_.set_pool(plan_->pool);
  plan_->changes_from(nullptr, seed).apply(hierarchy_, ~0u, now);
}

void QueueTree::adopt(Update& update, Time now) {
  std::swap(update_, update);
  plan_.swap(update_.plan);
  hierarchy_.set_overhead(update_.overhead);
  hierarchy_.set_pool(plan_->pool);
  // The port's own queues come first; they are at most removed and made again.
  const auto at_once = static_cast<std::uint32_t>(plan_->groups.size()) + 2;
  changing_ = update_.changes.apply(hierarchy_, at_once, now);
}

// The classes that the interface still has, so that nothing overtakes its queued packets; the port's own
// queues if it has not been added yet.
const config::QueueSet* QueueTree::set_meanwhile(InterfaceIndex i, std::uint8_t set,
                                                 Hierarchy::Arrival& arrival) const {
  const PortTree& before = *update_.plan;
  arrival.interface = i;
  if (hierarchy_.has(i) && i != plan_->port) {
    if (set != PortTree::kPortsOwn && fits(i, plan_->sets[set])) return &plan_->sets[set];
    if (before.has_queues(i) && fits(i, before.set(i))) return &before.set(i);
  }
  arrival.interface = plan_->port;
  return &plan_->sets[0];
}

bool QueueTree::fits(InterfaceIndex i, const config::QueueSet& set) const {
  const InterfaceParams& there = hierarchy_.params(i);
  if (there.classes().size() != set.classes.size()) return false;
  std::uint64_t strict = 0;
  for (std::size_t c = 0; c < set.classes.size(); ++c)
    strict |= std::uint64_t{set.classes[c].scheduling.strict} << c;
  return strict == there.strict();
}

}  // namespace surety
