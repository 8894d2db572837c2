// SPDX-License-Identifier: BSD-3-Clause
// Queues below queues: a port's rate is shared among groups and interfaces by weight and shaper, and within
// each interface by class.
//
// port's shaper -> groups -> interfaces -> classes         interfaces may also be directly below the port
//
// In place of the ClassScheduler of a port that has interfaces or groups with shapers or queues of their own;
// the port's own (untagged) queues are one interface more. Each level has a shaper, and a weight among what
// lies beside it (sibling_wheel.h says which published scheduler that is), each class a queue with RIO
// (pooled_queue.h).
//
// Guarantees:
// - Work conserving: at the times that dequeue() is called, packets wait only behind a shaper or a cap that
//   has no credit. A child's unused share goes to its siblings, and never beyond its group.
// - Strict packets of all children leave before all data, shared by weight among themselves. They do not
//   reduce their interface's part of the data: caps bound them. A strict packet waits for strict packets
//   before it, and at each level for at most one packet that left just before it came, and a slot of the
//   timers (kTimerSlot).
// - Shares: see sibling_wheel.h, at each level, in bytes of the port's wire.
// - Shapers: in any T at most rate T + burst + one packet, and at least rate T - one packet where there is
//   always something to send and nothing else is short, if burst >= rate * kTimerSlot (default_burst() is).
//   Strict traffic counts. Bytes of each as its own overhead counts them.
// - FIFO within a class. Accounting for each queue as ActiveQueue has it. No packet is lost, moved or kept
//   back by a change of parameters.
// - Constant time per packet, whatever the number of interfaces: nothing walks them. Shapers and caps that
//   wait are in one timing wheel; at most kWakes of them are woken by one call.
//
// Interfaces are numbers below room.interfaces, groups below room.groups; the caller's own. No exceptions but
// std::bad_alloc of the constructor. Owned by one worker.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "aqm/hierarchy/interface_node.h"
#include "aqm/hierarchy/line_arena.h"
#include "aqm/hierarchy/packet_pool.h"
#include "aqm/hierarchy/sibling_wheel.h"
#include "aqm/port_shaper.h"
#include "aqm/queue_decision.h"
#include "conditioners/release_wheel.h"

namespace surety {

// The children of one parent, which serves them in turns: the port, or a group below it.
struct Siblings {
  explicit Siblings(LineArena& arena)
      : wheels{SiblingWheel(Plane::strict, arena), SiblingWheel(Plane::data, arena)} {}
  SiblingWheel& wheel(Plane plane) { return wheels[index(plane)]; }
  // Adds a child; the first one resets the range of weights.
  void join(std::uint32_t weight) {
    if (children++ == 0) weights = {};
    weights.include(weight);
  }
  SiblingWeights weights;
  std::uint32_t children = 0;  // all, those that have nothing to send included
  std::array<SiblingWheel, kPlanes> wheels;
};

// In a block of lines.
struct GroupNode : ShareNode {
  explicit GroupNode(LineArena& arena) : siblings(arena) {}
  static constexpr std::uint32_t block_lines();
  Siblings siblings;
};
constexpr std::uint32_t GroupNode::block_lines() {
  return (sizeof(GroupNode) + LineArena::kLine - 1) / LineArena::kLine;
}

// Capacity below one port. Memory is used only as far as it is needed.
struct HierarchyRoom {
  std::uint32_t interfaces = 65'536, groups = 4'096;
  std::uint32_t queues = 262'144;     // on all interfaces
  std::uint32_t packets = 1'000'000;  // in all queues: their parts, and what is common
};

class Hierarchy {
 public:
  static constexpr Duration kTimerSlot{4096};
  static constexpr std::size_t kWakes = 512;
  static constexpr std::size_t kBurst = 64;
  using Interface = std::uint32_t;
  using Group = GroupNumber;
  static constexpr std::uint32_t kCached = 256;  // the latest packets, which are still in the caches
  static constexpr Group kPort = kNoGroup;       // directly below the port

  // Cache lines of the arena for so much.
  static std::uint32_t lines(const HierarchyRoom& room) {
    return InterfaceNode::kLines * room.interfaces + PooledQueue::kLines * room.queues +
           GroupNode::block_lines() * room.groups;
  }

  // `overhead` of the port's wire.
  Hierarchy(const HierarchyRoom& room, WireOverhead overhead, Time now);
  Hierarchy(const Hierarchy&) = delete;  // parts keep pointers into it
  Hierarchy& operator=(const Hierarchy&) = delete;

  // --- Changes. The caller owns parameters and keeps them until they have been replaced.

  // New, with its shaper's burst available. false: there is no room for its queues. A group is there first.
  bool add_group(Group group, const GroupParams& params, Time now);
  bool add(Interface interface, Group parent, const InterfaceParams& params, Time now, std::uint64_t seed);
  // Other parameters, or another parent: packets, averages, credit (up to the new burst) and debt stay, the
  // time until now counts at the old rates. An interface must keep its classes (same_classes()). `seed` is
  // for a new RIO.
  void change_group(Group group, const GroupParams& params, Time now);
  void change(Interface interface, Group parent, const InterfaceParams& params, Time now, std::uint64_t seed);
  // Sets the size of the pool in packets for all queues together, at most room.packets.
  void set_pool(std::uint32_t packets) { pool_.resize((packets + Chunk::kPackets - 1) / Chunk::kPackets); }
  // Sets the wire whose bytes shares count.
  void set_overhead(WireOverhead overhead) { overhead_ = overhead; }
  // A group that has no interfaces any more.
  void remove_group(Group group);
  // Sends no more; its packets are the caller's to drop, by take_removed(), until when its parameters stay.
  void remove(Interface interface);
  // Packets of removed interfaces, in order; fewer than there is room for: these were the last.
  std::size_t take_removed(std::span<Packet> out, Time now);
  bool has(Interface interface) const { return line_of(interface) != 0; }
  bool has_group(Group group) const { return groups_[group] != 0; }

  // --- Packets.

  struct Arrival {
    Packet packet;
    Interface interface = 0;  // an existing one
    std::uint8_t class_index = 0;
    bool ecn_capable = false;
  };
  ArrivalResult enqueue(const Arrival& arrival, Time now);
  // Enqueues up to kBurst packets of any interfaces as enqueue() one by one would, but prefetches their
  // memory. `notices` has room for as many and gets those that need an action, in order; returns how many.
  std::size_t enqueue(std::span<const Arrival> arrivals, std::span<ArrivalNotice> notices, Time now);
  // Fills `out` with packets to leave at `now` while the port's shaper lets them (advanced to `now`; it is
  // charged); returns how many.
  std::size_t dequeue(Time now, PortShaper& shaper, std::span<Packet> out);
  // Takes out any packet, in no order: for the end of the process.
  bool take_any(Packet& out, Time now);
  // now: something can leave, but for the port's shaper; else a time not after that of the next timer;
  // kNever: empty, or whatever has packets has a rate of zero.
  Time next_event(Time now) const;

  // --- To read.

  std::uint32_t depth() const { return depth_; }  // packets, but those of removed interfaces
  std::uint32_t removed_depth() const { return removed_depth_; }
  const PooledQueue& queue(Interface interface, std::size_t class_index) const {
    return node(interface).queue(class_index);
  }
  const InterfaceParams& params(Interface interface) const { return node(interface).bought(); }
  QueueStatus status(Interface interface, std::size_t class_index) const {
    return queue(interface, class_index).status(params(interface).of(class_index));
  }
  // Probability that enqueue() would refuse or mark a packet that arrives now.
  double refusal(Interface interface, std::size_t class_index, Precedence precedence, Time now) const {
    return queue(interface, class_index).refusal(params(interface).of(class_index), pool_, precedence, now);
  }
  // State at the last arrival or settle(), which decays the averages of an idle queue; false without RIO.
  bool congested(Interface interface, std::size_t class_index) const;
  void settle(Interface interface, std::size_t class_index, Time now);
  const SojournHistogram& sojourn(Plane plane) const { return sojourn_[index(plane)]; }  // all queues
  const PacketPool& pool() const { return pool_; }

 private:
  std::uint32_t key_of(Group group) const { return 1 + group; }
  std::uint32_t key_of_interface(Interface i) const { return 1 + room_.groups + i; }
  std::uint32_t cap_key(std::uint32_t key) const { return key + room_.interfaces; }
  LineNumber line_of(Interface i) const { return interfaces_[i]; }
  InterfaceNode& interface_at(LineNumber n) { return arena_.at<InterfaceNode>(n); }
  GroupNode& group_at(LineNumber n) { return arena_.at<GroupNode>(n); }
  InterfaceNode& node(Interface i) { return interface_at(line_of(i)); }
  const InterfaceNode& node(Interface i) const { return arena_.at<InterfaceNode>(line_of(i)); }
  LineNumber parent_line(Group group) const { return group == kPort ? 0 : groups_[group]; }
  Siblings& siblings(LineNumber parent) { return parent == 0 ? root_ : group_at(parent).siblings; }

  ArrivalResult admit(const Arrival& arrival, LineNumber line, Time now);
  bool has_ready(LineNumber child, Plane plane);
  void attach(LineNumber child);
  void attach(LineNumber child, Plane plane);
  void withdraw(LineNumber child, Plane plane);
  void detach(LineNumber child);
  // Allowance of one child for a run of packets.
  struct Spending {
    Spending(ShareNode& node, Siblings& siblings, Plane plane, Time now)
        : turn(node.turn(plane), siblings.wheel(plane), node.params->inverse(), siblings.weights),
          credit(node.bucket, node.params->bucket(), node.params->limited(), node.params->overhead(), now) {}
    bool spend(std::uint32_t length, std::uint32_t bytes) {
      const bool turn_left = turn.spend(bytes);
      return credit.spend(length) && turn_left;
    }
    // Charges the node; returns its place after it.
    std::uint64_t pay(ShareNode& node) const {
      credit.settle(node.bucket);
      node.blocked = credit.spent();
      return turn.tag();
    }
    TurnAllowance turn;
    CreditAllowance credit;
  };
  std::size_t dequeue_group(LineNumber line, Plane plane, Time now, PortShaper& shaper, std::span<Packet> out,
                            SojournRun& sojourn);
  template <class More>
  std::size_t dequeue_interface(LineNumber line, Plane plane, Time now, std::span<Packet> out,
                                SojournRun& sojourn, More more);
  void prefetch_behind(const InterfaceNode& front, Plane plane);
  void settle(ShareNode& node, LineNumber line, Plane plane, std::uint64_t tag);
  void wait_for_caps(InterfaceNode& node);
  void wake(Time now);
  void wake_node(LineNumber line, Time now);
  void wake_caps(LineNumber line, Time now);
  void start_timer(std::uint32_t key, Time when);
  void change(ShareNode& node, LineNumber line, const ShareParams& params, LineNumber parent, Time now);
  void free_removed();

  HierarchyRoom room_;
  WireOverhead overhead_;
  LineArena arena_;
  PacketPool pool_;
  ReleaseWheel timers_;       // keys of groups, of interfaces, of interfaces' caps
  Time next_timer_ = kNever;  // not after the first of them
  Siblings root_;
  std::uint32_t depth_ = 0, removed_depth_ = 0;
  std::vector<LineNumber> groups_, interfaces_;
  LineNumber removed_ = 0;  // interfaces that have packets to be taken, by Turn::next
  std::array<SojournHistogram, kPlanes> sojourn_;
};

// A reload below a port, in slices: interfaces and groups that come, change and go.
//
// Any thread prepares it; the worker applies so many changes in each of its turns, each in constant time and
// without the heap, while packets come and go. Other interfaces are not touched: no walk, no lost place, no
// lost token. Order: groups that come or change, then interfaces, then groups that go, so that an interface
// finds its new group and leaves the old one before it is gone.
//
// Parameters belong to the thread that prepares; the old ones are needed until apply() returned false, those
// of removed interfaces until take_removed() had their packets.
class HierarchyUpdate {
 public:
  void set_group(Hierarchy::Group group, const GroupParams& params) { groups_.push_back({group, &params}); }
  void remove_group(Hierarchy::Group group) { gone_.push_back(group); }
  // New, or changed with the same classes (InterfaceParams::same_classes()).
  void set(Hierarchy::Interface interface, Hierarchy::Group parent, const InterfaceParams& params,
           std::uint64_t seed) {
    interfaces_.push_back({interface, parent, &params, seed});
  }
  void remove(Hierarchy::Interface interface) {
    interfaces_.push_back({interface, Hierarchy::kPort, nullptr, 0});
  }

  // At most `budget` changes; whether there are more.
  bool apply(Hierarchy& hierarchy, std::uint32_t budget, Time now);
  // Interfaces and groups for which there was no room.
  std::uint32_t refused() const { return refused_; }

 private:
  struct GroupChange {
    Hierarchy::Group group;
    const GroupParams* params;
  };
  struct InterfaceChange {
    Hierarchy::Interface interface;
    Hierarchy::Group parent;
    const InterfaceParams* params;  // null: it goes
    std::uint64_t seed;
  };
  void apply(Hierarchy& hierarchy, const GroupChange& change, Time now);
  void apply(Hierarchy& hierarchy, const InterfaceChange& change, Time now);

  std::vector<GroupChange> groups_;
  std::vector<InterfaceChange> interfaces_;
  std::vector<Hierarchy::Group> gone_;
  std::size_t done_ = 0;  // changes done of all, in their order
  std::uint32_t refused_ = 0;
};

}  // namespace surety
