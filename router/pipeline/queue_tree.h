// SPDX-License-Identifier: BSD-3-Clause
// The queues below a port: finds the queue of a packet, and applies a reload.
//
// Owned by the worker that owns the port. The Hierarchy schedules; the Egress acts on its decisions.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "aqm/hierarchy/hierarchy.h"
#include "router/pipeline/class_split.h"
#include "router/pipeline/egress_tags.h"
#include "router/pipeline/port_tree.h"

namespace surety {

class QueueTree {
 public:
  // A reload of the tree. Any thread may prepare it.
  struct Update {
    std::shared_ptr<const PortTree> plan;
    HierarchyUpdate changes;
    WireOverhead overhead;
  };
  static Update prepare(std::shared_ptr<const PortTree> plan, const PortTree* before, WireOverhead overhead,
                        std::uint64_t seed);

  // Builds all queues of `plan` at once.
  QueueTree(std::shared_ptr<const PortTree> plan, WireOverhead overhead, Time now, std::uint64_t seed);

  // Applies `update`; only after finish(). The port's own queues and the groups change now, interfaces in the
  // following calls of advance(): until then they are as they were, and packets of interfaces not yet added
  // use the port's own queues. `update` then holds all that is to be freed.
  void adopt(Update& update, Time now);
  bool changing() const { return changing_; }
  // Applies a slice of the update; then take_removed() has the packets of removed interfaces.
  void advance(Time now) { changing_ = update_.changes.apply(hierarchy_, kSlice, now); }
  void finish(Time now) {
    while (changing_) advance(now);
  }

  // Sets `arrival` to the queue of the packet, and the packet's precedence. false: its interface was removed.
  // `traffic_class`: the frame's.
  bool find(Packet& packet, std::uint8_t traffic_class, Hierarchy::Arrival& arrival) const {
    const config::QueueSet* const set = this->set(packet, arrival);
    if (set == nullptr) [[unlikely]]
      return false;
    const auto looked = ClassSplit::look_up(packet, traffic_class, set->by_dscp);
    place(packet, looked.class_index, looked.ecn_capable, arrival);
    return true;
  }
  // Finds the queue of a packet whose class another worker has looked up by the same plan; not while
  // changing().
  bool find(const Packet& packet, std::uint8_t class_index, bool ecn_capable,
            Hierarchy::Arrival& arrival) const {
    if (set(packet, arrival) == nullptr) return false;
    place(packet, class_index, ecn_capable, arrival);
    return true;
  }

  // See Hierarchy.
  std::size_t dequeue(Time now, PortShaper& shaper, std::span<Packet> out) {
    return hierarchy_.dequeue(now, shaper, out);
  }
  bool take_any(Packet& out, Time now) { return hierarchy_.take_any(out, now); }
  Time next_event(Time now) const { return hierarchy_.next_event(now); }
  // True if a queue of the port's own is congested at `now`; an idle one is not.
  bool congested(std::size_t class_index, Time now) {
    hierarchy_.settle(plan_->port, class_index, now);
    return hierarchy_.congested(plan_->port, class_index);
  }

  const PortTree& plan() const { return *plan_; }
  Hierarchy& hierarchy() { return hierarchy_; }
  const Hierarchy& hierarchy() const { return hierarchy_; }
  std::uint32_t depth() const { return hierarchy_.depth() + hierarchy_.removed_depth(); }  // packets

 private:
  // Interfaces that a turn changes: their packets are at most some thousands.
  static constexpr std::uint32_t kSlice = 16;
  // The queue set that maps the packet's DSCP to a class; sets arrival.interface to the owner of the queues.
  // nullptr: a reload removed the packet's interface.
  const config::QueueSet* set(const Packet& p, Hierarchy::Arrival& arrival) const {
    const PortTree& plan = *plan_;
    const InterfaceIndex i = interface_of(static_cast<const rte_mbuf*>(p.handle), plan.port);
    const std::uint8_t set = i < plan.set_of.size() ? plan.set_of[i] : PortTree::kNobody;
    if (set == PortTree::kNobody) [[unlikely]]
      return nullptr;
    if (changing_) [[unlikely]]
      return set_meanwhile(i, set, arrival);
    const bool own = set != PortTree::kPortsOwn;
    arrival.interface = own ? i : plan.port;
    return &plan.sets[own ? set : 0];
  }
  static void place(const Packet& packet, std::uint8_t class_index, bool ecn_capable,
                    Hierarchy::Arrival& arrival) {
    arrival.packet = packet;
    arrival.class_index = class_index;
    arrival.ecn_capable = ecn_capable;
  }
  const config::QueueSet* set_meanwhile(InterfaceIndex i, std::uint8_t set,
                                        Hierarchy::Arrival& arrival) const;
  bool fits(InterfaceIndex i, const config::QueueSet& set) const;

  std::shared_ptr<const PortTree> plan_;
  Hierarchy hierarchy_;
  bool changing_ = false;
  Update update_;  // in progress, with the previous plan, whose parameters may still be in use
};

}  // namespace surety
