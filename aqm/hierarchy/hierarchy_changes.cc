// SPDX-License-Identifier: BSD-3-Clause
// Addition, change and removal of groups and interfaces; each in constant time, without the heap.
#include <algorithm>
#include <cassert>

#include "aqm/hierarchy/hierarchy.h"

namespace surety {

namespace {
// Slots of 4 us: 134 ms in total; a longer timer is examined again after that.
constexpr std::uint32_t kTimerSlots = 32'768;
}  // namespace

Hierarchy::Hierarchy(const HierarchyRoom& room, WireOverhead overhead, Time now)
    : room_(room),
      overhead_(overhead),
      arena_(lines(room)),
      pool_((room.packets + Chunk::kPackets - 1) / Chunk::kPackets),
      timers_(room.groups + 2 * room.interfaces, kTimerSlot, kTimerSlots, now),
      root_(arena_),
      groups_(room.groups),
      interfaces_(room.interfaces) {}

bool Hierarchy::add_group(Group group, const GroupParams& params, Time now) {
  assert(!has_group(group));
  const LineNumber line = arena_.take(GroupNode::block_lines());
  if (line == 0) return false;
  auto* const node = new (arena_.address(line)) GroupNode(arena_);
  node->params = &params;
  node->key = key_of(group);
  node->is_group = true;
  node->bucket.reset(params.bucket(), now);
  groups_[group] = line;
  root_.join(params.weight());
  return true;
}

bool Hierarchy::add(Interface interface, Group parent, const InterfaceParams& params, Time now,
                    std::uint64_t seed) {
  assert(!has(interface));
  const LineNumber line = arena_.take(InterfaceNode::block_lines(params));
  if (line == 0) return false;
  auto* const node = new (arena_.address(line)) InterfaceNode;
  node->params = &params;
  node->parent = parent_line(parent);
  node->key = key_of_interface(interface);
  node->strict = params.strict();
  node->bucket.reset(params.bucket(), now);
  for (std::size_t c = 0; c < params.classes().size(); ++c) {
    new (&node->queue(c)) PooledQueue(params.of(c), seed + c, now);
    pool_.reserve(params.of(c).share.part);
  }
  interfaces_[interface] = line;
  siblings(node->parent).join(params.weight());
  return true;
}

// Replaces the parameters of a node without loss of credit, and attaches it where it may send.
void Hierarchy::change(ShareNode& node, LineNumber line, const ShareParams& params, LineNumber parent,
                       Time now) {
  detach(line);
  change_bucket(node.bucket, node.params->bucket(), node.params->limited(), params.bucket(), now);
  --siblings(node.parent).children;
  if (parent != node.parent) node.turns = {};  // tags are of the wheel
  node.parent = parent;
  node.params = &params;
  siblings(parent).join(params.weight());
}

void Hierarchy::change_group(Group group, const GroupParams& params, Time now) {
  const LineNumber line = groups_[group];
  GroupNode& node = group_at(line);
  change(node, line, params, 0, now);
  wake_node(line, now);
}

void Hierarchy::change(Interface interface, Group parent, const InterfaceParams& params, Time now,
                       std::uint64_t seed) {
  const LineNumber line = line_of(interface);
  InterfaceNode& node = interface_at(line);
  assert(params.same_classes(node.bought()));
  for (std::size_t c = 0; c < node.classes(); ++c)
    node.queue(c).adopt(node.bought().of(c), params.of(c), pool_, seed + c, now);
  change(node, line, params, parent_line(parent), now);
  wake_caps(line, now);
  wake_node(line, now);
}

void Hierarchy::detach(LineNumber child) {
  withdraw(child, Plane::strict);
  withdraw(child, Plane::data);
  timers_.remove(arena_.at<ShareNode>(child).key);
}

void Hierarchy::remove_group(Group group) {
  const LineNumber line = groups_[group];
  assert(group_at(line).siblings.children == 0);
  detach(line);
  --root_.children;
  groups_[group] = 0;
  arena_.give(line, GroupNode::block_lines());
}

void Hierarchy::remove(Interface interface) {
  const LineNumber line = line_of(interface);
  InterfaceNode& node = interface_at(line);
  detach(line);
  timers_.remove(cap_key(node.key));
  --siblings(node.parent).children;
  interfaces_[interface] = 0;
  for (std::size_t c = 0; c < node.classes(); ++c) {
    depth_ -= node.queue(c).depth();
    removed_depth_ += node.queue(c).depth();
  }
  node.turn(Plane::data).next = removed_;
  removed_ = line;
}

std::size_t Hierarchy::take_removed(std::span<Packet> out, Time now) {
  std::size_t n = 0;
  for (; removed_ != 0; free_removed()) {
    InterfaceNode& node = interface_at(removed_);
    for (; node.backlog != 0; node.backlog &= node.backlog - 1) {
      const auto c = static_cast<std::size_t>(std::countr_zero(node.backlog));
      for (PooledQueue& queue = node.queue(c); !queue.empty();) {
        if (n == out.size()) return n;
        SojournRun sojourn(sojourn_[index(node.plane_of(c))], now);
        const std::size_t taken = queue.dequeue(node.bought().of(c), pool_, out.subspan(n), now, sojourn,
                                                [](auto) { return true; });
        removed_depth_ -= static_cast<std::uint32_t>(taken);
        n += taken;
      }
    }
  }
  return n;
}

void Hierarchy::free_removed() {
  const LineNumber line = removed_;
  InterfaceNode& node = interface_at(line);
  for (const InterfaceParams::Class& c : node.bought().classes()) pool_.unreserve(c.share.part);
  removed_ = node.turn(Plane::data).next;
  arena_.give(line, InterfaceNode::block_lines(node.bought()));
}

bool Hierarchy::take_any(Packet& out, Time now) {
  if (take_removed({&out, 1}, now) == 1) return true;
  for (Interface i = 0; depth_ > 0 && i < room_.interfaces; ++i)
    if (has(i)) remove(i);
  return take_removed({&out, 1}, now) == 1;
}

bool HierarchyUpdate::apply(Hierarchy& hierarchy, std::uint32_t budget, Time now) {
  const std::size_t interfaces = groups_.size(), gone = interfaces + interfaces_.size();
  const std::size_t all = gone + gone_.size();
  for (; done_ < all && budget > 0; ++done_, --budget) {
    if (done_ < interfaces)
      apply(hierarchy, groups_[done_], now);
    else if (done_ < gone)
      apply(hierarchy, interfaces_[done_ - interfaces], now);
    else if (hierarchy.has_group(gone_[done_ - gone]))
      hierarchy.remove_group(gone_[done_ - gone]);
  }
  return done_ < all;
}

void HierarchyUpdate::apply(Hierarchy& hierarchy, const GroupChange& change, Time now) {
  if (hierarchy.has_group(change.group))
    hierarchy.change_group(change.group, *change.params, now);
  else
    refused_ += !hierarchy.add_group(change.group, *change.params, now);
}

// Skips interfaces that could not be added, and those whose group could not.
void HierarchyUpdate::apply(Hierarchy& hierarchy, const InterfaceChange& change, Time now) {
  const bool there = hierarchy.has(change.interface);
  if (change.params == nullptr) {
    if (there) hierarchy.remove(change.interface);
  } else if (change.parent != Hierarchy::kPort && !hierarchy.has_group(change.parent)) {
    ++refused_;
  } else if (there) {
    hierarchy.change(change.interface, change.parent, *change.params, now, change.seed);
  } else {
    refused_ += !hierarchy.add(change.interface, change.parent, *change.params, now, change.seed);
  }
}

}  // namespace surety
