// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/workers/tree_copy.h"

#include <algorithm>

#include "router/operate/observe/reading_merge.h"

namespace surety {

void name_after(QueueReading& row, const ClassParams& of) {
  row.name = of.name;
  row.limit = of.queue.limit;
  row.out_limit = of.queue.limit - of.queue.reserved;
  row.thresholds.reset();
  if (of.queue.rio) row.thresholds = {of.queue.rio->in, of.queue.rio->out};
}

void fill_tree_row(QueueReading& row, const Hierarchy& h, InterfaceIndex interface, std::size_t class_index) {
  const PooledQueue& q = h.queue(interface, class_index);
  for (const Precedence p : {Precedence::in, Precedence::out}) {
    row.counters[index(p)] = q.counters(p);
    row.depth[index(p)] = q.depth_of(p);
  }
  row.has_rio = h.params(interface).of(class_index).rio.has_value();
  // In an empty queue the averages are those of its last packet: they decay with the next arrival.
  const bool known = row.has_rio && q.depth() > 0;
  row.average_in = known ? q.rio().in.value : 0;
  row.average_total = known ? q.rio().total.value : 0;
  row.congested = known && h.congested(interface, class_index);
}

void name_members(Reading& r, const Snapshot& snapshot) {
  const Interfaces& interfaces = *snapshot.interfaces;
  for (QueueReading& q : std::span(r.member_queues).first(r.used_members)) {
    const InterfaceRecord& record = interfaces[q.index];
    const PortTree& tree = *snapshot.queues[record.port].tree;
    q.port = snapshot.config.ports[record.port].name;
    q.interface = interfaces.name(q.index);
    q.of = interfaces.name(record.link);
    name_after(q, tree.classes(q.index)[q.members]);
    q.members = 0;
    q.has_sojourn = false;
  }
}

void TreeCopy::start(Reading& r) {
  port_ = row_ = 0;
  node_ = 1;
  member_ = 0;
  r.used_members = 0;
  for (QueueReading& q : r.interface_queues) {
    q.counters = {};
    q.depth = {};
    q.average_in = q.average_total = 0;
    q.congested = q.has_rio = false;
  }
}

bool TreeCopy::step(Reading& r, const Snapshot& snapshot) {
  std::uint32_t left = kStep;
  for (; port_ < snapshot.queues.size(); ++port_, node_ = 1) {
    const PortTree* const plan = snapshot.queues[port_].tree.get();
    if (plan == nullptr) continue;
    const QueueTree* const tree = egresses_[port_] != nullptr ? egresses_[port_]->tree() : nullptr;
    for (; node_ < plan->nodes.size(); ++node_, member_ = 0) {
      const PortTree::Node& node = plan->nodes[node_];
      for (; tree != nullptr && member_ < node.count; ++member_) {
        if (left-- == 0) return false;
        copy(r, *tree, node, static_cast<InterfaceIndex>(node.first + member_));
      }
      row_ += node.classes.size();
    }
  }
  return true;
}

// All members of a template make one row; members with traffic also have rows of their own.
void TreeCopy::copy(Reading& r, const QueueTree& tree, const PortTree::Node& node, InterfaceIndex i) {
  const Hierarchy& h = tree.hierarchy();
  // A reload in progress has not added the interface yet, or not its classes.
  if (!h.has(i) || h.params(i).classes().size() != node.classes.size()) return;
  QueueReading* const rows = r.interface_queues.data() + row_;
  for (std::size_t c = 0; c < node.classes.size(); ++c) {
    if (node.count == 1) {
      fill_tree_row(rows[c], h, i, c);
      continue;
    }
    rows[c].has_rio |= h.params(i).of(c).rio.has_value();
    const PooledQueue& queue = h.queue(i, c);
    if (queue.counters(Precedence::in).arrivals + queue.counters(Precedence::out).arrivals == 0) continue;
    const bool room = r.used_members < r.member_queues.size();
    QueueReading& member = room ? r.member_queues[r.used_members] : scratch_;
    fill_tree_row(member, h, i, c);
    add_numbers(rows[c], member);
    member.index = i;
    member.members = c;  // the class: named by name_members()
    r.used_members += room;
  }
}

}  // namespace surety
