// SPDX-License-Identifier: BSD-3-Clause
#include "router/queue_tree.h"

namespace surety {

namespace {
HierarchyRoom room_of(const PortTree& plan) {
  HierarchyRoom room;
  room.packets = plan.pool;
  return room;
}
}  // namespace

QueueTree::Update QueueTree::prepare(std::shared_ptr<const PortTree> plan, const PortTree* before,
                                     WireOverhead overhead, std::uint64_t seed) {
  HierarchyUpdate changes = plan->changes_from(before, seed);
  return {std::move(plan), std::move(changes), overhead};
}

QueueTree::QueueTree(std::shared_ptr<const PortTree> plan, WireOverhead overhead, Time now,
                     std::uint64_t seed)
    : plan_(std::move(plan)), hierarchy_(room_of(*plan_), overhead, now), update_{nullptr, {}, overhead} {
  plan_->changes_from(nullptr, seed).apply(hierarchy_, ~0u, now);
}

void QueueTree::adopt(Update& update, Time now) {
  std::swap(update_, update);
  plan_.swap(update_.plan);
  hierarchy_.set_overhead(update_.overhead);
  // The port's own queues come first, taken away and made again at most.
  const auto at_once = static_cast<std::uint32_t>(plan_->groups.size()) + 2;
  changing_ = update_.changes.apply(hierarchy_, at_once, now);
}

bool QueueTree::fits(InterfaceIndex i, std::uint8_t set) const {
  const auto& classes = plan_->sets[set].classes;
  const InterfaceParams& there = hierarchy_.params(i);
  if (there.classes().size() != classes.size()) return false;
  std::uint64_t strict = 0;
  for (std::size_t c = 0; c < classes.size(); ++c) strict |= std::uint64_t{classes[c].scheduling.strict} << c;
  return strict == there.strict();
}

}  // namespace surety
