// SPDX-License-Identifier: BSD-3-Clause
// What happens to packets that leave by one port: aggregate markers, the classes' queues,
// the scheduler, the shaper. Where interfaces of the port have queues or shapers of their own, the packets of
// each wait there (queue_tree.h), and those of the others in the port's.
//
// Owned by one worker. Knows no device and no clock: the driver enqueues bursts, asks for as many packets as
// it has room for, and looks at next_event() to know when asking again makes sense.
#pragma once

#include <rte_mbuf.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "aqm/class_scheduler.h"
#include "aqm/port_shaper.h"
#include "conditioners/fair_limit.h"
#include "router/aggregate_markers.h"
#include "router/class_split.h"
#include "router/congestion_domains.h"
#include "router/packet_disposal.h"
#include "router/plain_queue.h"
#include "router/queue_tree.h"
#include "router/rings/handover.h"
#include "router/snapshot.h"

namespace surety {

struct EgressUpdate;

class Egress {
 public:
  Egress(const Snapshot& snapshot, PortIndex port, PortCounters& counters, PacketDisposal& disposal, Time now,
         std::uint64_t seed);

  // Another configuration for a port that goes on, or of which the snapshot knows nothing any more:
  // `snapshot` was made from the one adopted last, or else its classes are the same (names, order, strict or
  // not) and it has `queues`, or none, as before. Any thread may prepare; touches no Egress. `now` and `seed`
  // are for what is new, as the constructor's.
  static std::unique_ptr<EgressUpdate> prepare(const Snapshot& snapshot, PortIndex port, Time now,
                                               std::uint64_t seed, bool goes_on = true);
  // Takes it over between two turns, without allocation: the snapshot is not needed any more, packets queued
  // stay and leave in their order, counters go on. So do the averages of RIO, the credit of shapers, alpha
  // and its timers of a domain that is kept, and meters and tokens of an aggregate that keeps its name. What
  // waits in a class that is gone leaves by those that have its packets now (aqm/retired_queues.h). A larger
  // limit of a queue that holds packets comes into force within the next calls of advance(), a slice of the
  // packets each. Where the port gets `queues`, or loses them, what is queued comes to the new ones as if it
  // came then. Where it has gone, that is dropped as `port_gone`, and so is whatever comes. Interfaces below
  // it change within the next calls of advance(); what waits in the queues of one that goes is dropped as
  // `interface_gone`, of one that has other classes or none of its own any more it comes anew. What is left
  // in `update` is to be freed by whoever destroys it.
  void adopt(EgressUpdate& update, Time now);

  // Takes over the packets at these places of a vector, which leave by this port, rewritten.
  void enqueue(const Vector& v, Places places, Time now);
  // Takes over packets (at most kVector) whose frame starts with a 14-byte Ethernet header.
  // Refused ones are dropped.
  void enqueue(std::span<Packet> burst, Time now);
  // enqueue() for a port that is plain().
  void enqueue_plain(std::span<rte_mbuf* const> burst, Time now);
  // What enqueue() would find in a frame of `length` bytes of IP and that traffic class. For the workers that
  // do not own the port, and hand over: asks only the port's `classes` of the caller's own snapshot.
  static HandedPacket describe(rte_mbuf* m, std::uint16_t length, std::uint8_t traffic_class,
                               const PortQueues& classes);
  static HandedPacket describe(rte_mbuf* m, std::uint16_t length, const PortQueues& classes) {
    return describe(m, length, traffic_class(ip_header(m, RTE_ETHER_HDR_LEN)), classes);
  }
  // enqueue() for what another worker has handed over. Where the classes have moved for one of the two and
  // not for the other yet, the frame is looked at again.
  void enqueue_handed(std::span<const HandedPacket> burst, Time now);
  // enqueue() for frames of which nothing is known yet.
  void enqueue_frames(std::span<rte_mbuf* const> burst, Time now);
  // enqueue() for frames of this router's own kernel, of any kind: what is not IP, and
  // neighbour discovery as ARP, takes the class of CS6.
  void enqueue_own(std::span<rte_mbuf* const> burst, Time now);
  // Fills `room`, up to kVector, with packets that may leave now, in order;
  // they are the driver's from then on.
  std::size_t transmit(std::span<rte_mbuf*> room, Time now);
  // Timers: T2 of the congestion signalling, intervals of the aggregates. Once per turn.
  void advance(Time now);
  // Frees everything queued; for the end of the process.
  void discard(Time now);
  // When transmit() or advance() may have something to do again.
  Time next_event(Time now) const { return std::min(next_departure(now), next_timer()); }
  Time next_departure(Time now) const;  // transmit(); kNever: nothing is queued
  Time next_timer() const;              // advance()

  // Whether congested queues ask for signals towards the sources of their OUT packets. Off at the start; the
  // first time it allocates. For internal routers: a border's own queues drive the alpha of its flows
  // directly.
  void enable_signals(bool on) { domains_.enable_signals(on, scheduler_.classes(), signal_limit_); }
  // The oldest signals asked for, now the driver's to send. Once per turn.
  std::size_t take_signals(std::span<CongestionSignal> out) { return domains_.take_signals(out); }
  const SignalOutbox& signals() const { return domains_.signals(); }
  // Congestion of queues of interfaces, told to this router's own conditioners as another router would tell
  // it: their flows' paths are held back (router/signals/README.md). Once per turn.
  std::size_t take_notes(std::span<CongestionSignal> out) { return notes_.take(out); }

  // alpha of a domain of this port (index into Snapshot::domains); 1 for one that is not adopted yet. From
  // any thread, at all times.
  Ratio alpha(std::uint16_t domain) const { return domains_.alpha(domain); }

  std::uint32_t depth() const {  // packets queued
    return plain_ ? plain_->depth() : tree_ ? tree_->depth() : scheduler_.depth();
  }
  // Its queues stay empty when the port is plain, or has a tree.
  const ClassScheduler& scheduler() const { return scheduler_; }
  // The queues below the port; null: it has its own only.
  const QueueTree* tree() const { return tree_.get(); }
  // The queue of a port without `queues`; null for others.
  const PlainQueue* plain() const { return plain_ ? &*plain_ : nullptr; }
  using Aggregate = AggregateMarkers::Aggregate;
  std::span<const Aggregate> aggregates() const { return markers_.all(); }

 private:
  void enqueue_plain(const Vector& v, Places places, Time now);
  // Packets copied per turn to a queue's larger ring: a few microseconds, and more than can come and go in a
  // turn, so that it ends.
  static constexpr std::uint32_t kSlice = 512;
  Egress(EgressUpdate&& start, const Snapshot& snapshot, PortIndex port, PortCounters& counters,
         PacketDisposal& disposal, Time now);
  void requeue(EgressUpdate& before, Time now);
  void enqueue_classes(Time now);
  void enqueue_class(const ClassRun& run, Time now);
  void enqueue_tree(const Vector& v, Places places, Time now);
  void enqueue_tree(std::span<Packet> burst, Time now);
  void enqueue_tree(std::span<const HandedPacket> burst, Time now);
  void offer_marked(std::size_t arrivals, Time now);
  void offer(std::size_t arrivals, Time now);
  std::size_t mark_arrivals(std::size_t arrivals, Time now);
  void note_congestion(const Hierarchy::Arrival& arrival, CongestionEvent event, Time now);
  void advance_tree(Time now);
  void take_removed(Time now);
  void enqueue_control(rte_mbuf* m, Time now);

  PortIndex port_;
  std::uint16_t layout_;        // of the classes
  std::uint32_t signal_limit_;  // a second, of each queue
  PortCounters& counters_;
  PacketDisposal& disposal_;
  // What a port without `queues` needs stands together, before what holds whole bursts.
  PortShaper shaper_;
  std::optional<PlainQueue> plain_;            // the port has no `queues`, or has gone
  DropReason refusal_ = DropReason::overflow;  // of plain_
  bool growing_ = false;                       // a queue has packets to copy to a larger ring
  ClassScheduler scheduler_;                   // with the classes' queues
  std::unique_ptr<QueueTree> tree_;            // in their place; null: the port has none
  ClassSplit split_;
  AggregateMarkers markers_;
  CongestionDomains domains_;
  // Each is used within one call; members because on the stack they would be initialised in each call.
  std::array<Packet, kVector> packets_;
  std::array<ActiveQueue::Notice, kVector> notices_;
  std::array<Hierarchy::Arrival, kVector> arrivals_;
  SignalOutbox notes_;
  FairLimit told_;  // of congested interfaces, nobody's signals being used up by others
};

// All of an Egress that its configuration decides, as new.
struct EgressUpdate {
  std::uint16_t layout;
  ClassMoves moves;
  ClassSplit::ClassesByDscp by_dscp;
  ClassScheduler scheduler;
  PortShaper shaper;
  AggregateMarkers::Set aggregates;
  std::vector<CongestionDomains::Controller> controllers;
  std::vector<Contributors> contributors;  // none unless classes move
  std::optional<PlainQueue> plain;         // the port has no `queues`
  bool gone;                               // nor is it there
  std::unique_ptr<QueueTree> tree;         // where there was none
  std::optional<QueueTree::Update> tree_update;
};

// Where the packets of a worker go that leave by a port: to its own Egress, or to the worker that owns it.
struct Outlet {
  // Of the port, whoever owns it. Another worker's is only asked for alpha() and describe().
  Egress* egress = nullptr;
  // To the worker that owns the port; null: this one does.
  EgressHandover* owner = nullptr;
};

}  // namespace surety
