// SPDX-License-Identifier: BSD-3-Clause
// The queues below a port at work: which of them a packet is for, and how a reload reaches them.
//
// Owned by the worker that owns the port. Who sends, and when, is the Hierarchy's affair; what follows of its
// decisions is the Egress's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "aqm/hierarchy/hierarchy_update.h"
#include "router/class_split.h"
#include "router/egress_tags.h"
#include "router/port_tree.h"

namespace surety {

class QueueTree {
 public:
  // What a reload makes of it. Any thread may prepare it.
  struct Update {
    std::shared_ptr<const PortTree> plan;
    HierarchyUpdate changes;
    WireOverhead overhead;
  };
  static Update prepare(std::shared_ptr<const PortTree> plan, const PortTree* before, WireOverhead overhead,
                        std::uint64_t seed);

  // With all that `plan` has, at once.
  QueueTree(std::shared_ptr<const PortTree> plan, WireOverhead overhead, Time now, std::uint64_t seed);

  // Takes it over; only after finish(). The port's own queues and the groups change now, interfaces in the
  // calls of advance() that follow: until then they are as they were, and the packets of those that are not
  // there yet go by the port's own queues. `update` gets what is to be freed.
  void adopt(Update& update, Time now);
  bool changing() const { return changing_; }
  // A slice of that; then take_removed() has what was in the queues of interfaces that went.
  void advance(Time now) { changing_ = update_.changes.apply(hierarchy_, kSlice, now); }
  void finish(Time now) {
    while (changing_) advance(now);
  }

  // Where it is to wait; sets its precedence. None: its interface is gone.
  std::optional<Hierarchy::Arrival> find(Packet& packet) const {
    const auto place = this->place(packet);
    if (!place) return {};
    const auto looked = ClassSplit::look_up(packet, plan_->sets[place->set].by_dscp);
    return Hierarchy::Arrival{packet, place->owner, looked.class_index, looked.ecn_capable};
  }
  // Where one whose class another worker has looked up by the same plan is to wait; not while changing().
  std::optional<Hierarchy::Arrival> find(const Packet& packet, std::uint8_t class_index,
                                         bool ecn_capable) const {
    const auto place = this->place(packet);
    if (!place) return {};
    return Hierarchy::Arrival{packet, place->owner, class_index, ecn_capable};
  }
  // Where a packet of this DSCP waits, whatever it says.
  std::optional<Hierarchy::Arrival> find(const Packet& packet, std::uint8_t dscp) const {
    const auto place = this->place(packet);
    if (!place) return {};
    return Hierarchy::Arrival{packet, place->owner, plan_->sets[place->set].by_dscp[dscp].class_index, false};
  }

  const PortTree& plan() const { return *plan_; }
  Hierarchy& hierarchy() { return hierarchy_; }
  const Hierarchy& hierarchy() const { return hierarchy_; }
  std::uint32_t depth() const { return hierarchy_.depth() + hierarchy_.removed_depth(); }  // packets

 private:
  // Interfaces that a turn changes: their packets are at most some thousands.
  static constexpr std::uint32_t kSlice = 16;
  struct Place {
    InterfaceIndex owner;
    std::uint8_t set;
  };
  std::optional<Place> place(const Packet& p) const {
    const InterfaceIndex i = interface_of(static_cast<const rte_mbuf*>(p.handle), plan_->port);
    if (!plan_->exists(i)) [[unlikely]]
      return {};
    const std::uint8_t set = plan_->set_of[i];
    if (set == PortTree::kPortsOwn || !hierarchy_.has(i) || (changing_ && !fits(i, set)))
      return Place{plan_->port, 0};
    return Place{i, set};
  }
  bool fits(InterfaceIndex i, std::uint8_t set) const;

  std::shared_ptr<const PortTree> plan_;
  Hierarchy hierarchy_;
  bool changing_ = false;
  Update update_;  // that is being taken over, with the plan before, whose parameters may still be in use
};

}  // namespace surety
