// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/queue_tree.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace surety {

namespace {

// The changes that turn queues of the plan `before` into those of `plan`; nullptr: there were none.
HierarchyUpdate changes_between(const PortTree& plan, const PortTree* before, std::uint64_t seed) {
  using Node = PortTree::Node;
  using Group = PortTree::Group;
  constexpr std::uint64_t kSeedStride = kMaxClasses;  // no two queues have one random stream
  HierarchyUpdate update;
  std::vector<const Node*> old(std::max(plan.set_of.size(), before == nullptr ? 0 : before->set_of.size()));
  if (before != nullptr) {
    for (const Node& n : before->nodes) std::fill_n(old.begin() + n.first, n.count, &n);
    for (const Group& g : before->groups)
      if (std::ranges::find(plan.groups, g.number, &Group::number) == plan.groups.end())
        update.remove_group(g.number);
  }
  for (const Group& g : plan.groups) {
    const Group* const was = before != nullptr ? before->find_group(g.name) : nullptr;
    if (was == nullptr || was->params != g.params) update.set_group(g.number, *g.params);
  }
  for (const Node& n : plan.nodes) {
    for (std::size_t i = n.first; i < n.first + n.count; ++i) {
      if (&plan.nodes[plan.node_of[i]] != &n) continue;
      const Node* const was = std::exchange(old[i], nullptr);
      const auto index = static_cast<Hierarchy::Interface>(i);
      if (was != nullptr && was->params == n.params && was->parent == n.parent) continue;
      if (was != nullptr && !same_classes(before->sets[was->set], plan.sets[n.set])) update.remove(index);
      update.set(index, n.parent, *n.params, seed + i * kSeedStride);
    }
  }
  for (std::size_t i = 0; i < old.size(); ++i)
    if (old[i] != nullptr) update.remove(static_cast<Hierarchy::Interface>(i));
  return update;
}

}  // namespace

QueueTree::Update QueueTree::prepare(std::shared_ptr<const PortTree> plan, const PortTree* before,
                                     WireOverhead overhead, std::uint64_t seed) {
  HierarchyUpdate update = changes_between(*plan, before, seed);
  return {std::move(plan), std::move(update), overhead};
}

QueueTree::QueueTree(std::shared_ptr<const PortTree> plan, WireOverhead overhead, Time now,
                     std::uint64_t seed)
    : plan_(std::move(plan)), hierarchy_({}, overhead, now), update_{nullptr, {}, overhead} {
  hierarchy_.set_pool(plan_->pool);
  changes_between(*plan_, nullptr, seed).apply(hierarchy_, ~0u, now);
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
