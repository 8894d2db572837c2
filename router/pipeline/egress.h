// SPDX-License-Identifier: BSD-3-Clause
// The path of packets out of one port: aggregate markers, the classes' queues, the scheduler, the shaper.
// Interfaces with queues or shapers of their own queue their packets there (queue_tree.h), all others in the
// port's queues. egress_queues.h has the three kinds of queues, of which a port has one.
//
// Owned by one worker, without device or clock: the driver enqueues bursts, calls transmit() with the room it
// has, and calls it again at next_event().
#pragma once

#include <rte_mbuf.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "aqm/port_shaper.h"
#include "conditioners/customer_limits.h"
#include "router/pipeline/aggregate_markers.h"
#include "router/pipeline/class_split.h"
#include "router/pipeline/congestion_domains.h"
#include "router/pipeline/egress_queues.h"
#include "router/pipeline/handover.h"
#include "router/pipeline/packet_disposal.h"
#include "router/pipeline/snapshot.h"

namespace surety {

struct EgressUpdate;

class Egress {
 public:
  Egress(const Snapshot& snapshot, PortIndex port, PortCounters& counters, PacketDisposal& disposal, Time now,
         std::uint64_t seed);

  // Prepares another configuration for a port, or for one that the snapshot has no longer (`goes_on` false).
  // `snapshot` was made from the one adopted last, or else its classes are the same (names, order, strict or
  // not) and it has `queues`, or none, as before. Thread-safe: touches no Egress. `now` and `seed` are used
  // for new parts, as in the constructor.
  static std::unique_ptr<EgressUpdate> prepare(const Snapshot& snapshot, PortIndex port, Time now,
                                               std::uint64_t seed, bool goes_on = true);
  // Applies `update` between two turns, without allocation; the snapshot is not needed afterwards. Queued
  // packets stay and leave in their order, counters continue. So do the averages of RIO, the credit of
  // shapers, alpha and timers of a domain that is kept, and meters and tokens of an aggregate that keeps its
  // name. Packets in a removed class leave by the classes that have its DSCPs now (aqm/class_scheduler.h). A
  // larger limit of a queue that holds packets applies within the next calls of advance(), which copy a slice
  // of the packets each. Where the port gets or loses `queues`, queued packets are enqueued again. Packets of
  // a removed port, queued or arriving, are dropped as `port_gone`. Interfaces below the port change within
  // the next calls of advance(); packets in the queues of a removed interface are dropped as
  // `interface_gone`, packets of an interface with other classes or no queues are enqueued again. The caller
  // destroys `update`, which then holds all that is to be freed.
  void adopt(EgressUpdate& update, Time now);

  // Takes over the rewritten packets at `lanes` of `v`, which leave by this port. Refused packets are
  // dropped.
  void enqueue(const Burst& v, LaneMask lanes, Time now);
  // Describes a frame of `length` bytes of IP with this traffic class, as enqueue() would read it. For
  // workers that do not own the port and hand over: reads only the port's `classes` of the caller's own
  // snapshot.
  static HandedPacket describe(rte_mbuf* m, std::uint16_t length, std::uint8_t traffic_class,
                               const PortQueues& classes);
  static HandedPacket describe(rte_mbuf* m, std::uint16_t length, const PortQueues& classes) {
    return describe(m, length, traffic_class(ip_header(m, RTE_ETHER_HDR_LEN)), classes);
  }
  // enqueue() for at most kBurst packets that another worker has handed over. While only one of the two has
  // adopted moved classes, the frame is read again.
  void enqueue_handed(std::span<const HandedPacket> burst, Time now);
  // enqueue() for frames that have not been parsed, with a 14-byte Ethernet header.
  void enqueue_frames(std::span<rte_mbuf* const> burst, Time now);
  // enqueue() for frames of this router's own kernel, of any kind: ARP, other non-IP frames and neighbour
  // discovery take the class of the router's DSCP (`router: {dscp: ..}`), which is written into the latter.
  void enqueue_own(std::span<rte_mbuf* const> burst, Time now);
  // Fills `room`, up to kBurst, with packets that may leave now, in order; the driver owns them from then
  // on.
  std::size_t transmit(std::span<rte_mbuf*> room, Time now);
  // Timers: T2 of the congestion signalling, intervals of the aggregates. Once per turn.
  void advance(Time now);
  // Frees everything queued; for the end of the process.
  void discard(Time now);
  // The time when transmit() or advance() may have work again.
  Time next_event(Time now) const { return std::min(next_departure(now), next_timer()); }
  Time next_departure(Time now) const;  // transmit(); kNever: nothing is queued
  Time next_timer() const;              // advance()

  // Enables or disables signals of congested queues towards the sources of their OUT packets. Initially off;
  // the first call with `on` allocates. For internal routers: a border's own queues drive the alpha of its
  // flows directly.
  void enable_signals(bool on) { domains_.enable_signals(on, classes_, signal_limit_, report_); }
  // Moves the oldest pending signals to `out`, for the driver to send. Once per turn.
  std::size_t take_signals(std::span<CongestionSignal> out) { return domains_.take_signals(out); }
  const SignalOutbox& signals() const { return domains_.signals(); }
  // Congestion of interfaces' queues, for this router's own conditioners, in the form of another router's
  // signals: the paths of the flows are held back (router/pipeline/signals/README.md). Once per turn.
  std::size_t take_notes(std::span<CongestionSignal> out) { return notes_.take(out); }

  // alpha of a domain of this port (index into Snapshot::domains); 1 for a domain that is not adopted yet.
  // Thread-safe.
  Ratio alpha(std::uint16_t domain) const { return domains_.alpha(domain); }

  std::uint32_t depth() const {  // packets queued
    return by_kind(queues_, [](const auto& queues) { return queues.depth(); });
  }
  // The queues of the port; nullptr: it has those of another kind.
  const PlainQueue* plain() const { return std::get_if<PlainQueue>(&queues_); }
  const ClassScheduler* scheduler() const { return std::get_if<ClassScheduler>(&queues_); }
  const QueueTree* tree() const { return tree_of(queues_); }
  using Aggregate = AggregateMarkers::Aggregate;
  std::span<const Aggregate> aggregates() const { return markers_.all(); }

 private:
  // Packets copied per turn to a queue's larger ring: a few microseconds, and more packets than can arrive
  // and leave in a turn, so that copying ends.
  static constexpr std::uint32_t kSlice = 512;
  Egress(EgressUpdate&& start, const Snapshot& snapshot, PortIndex port, PortCounters& counters,
         PacketDisposal& disposal, Time now);
  // The ways in, for each kind of queues.
  void put(PlainQueue& queue, const Burst& v, LaneMask lanes, Time now);
  void put(PlainQueue& queue, std::span<const HandedPacket> burst, Time now);
  void put(PlainQueue& queue, std::span<rte_mbuf* const> frames, Time now);
  void put_control(PlainQueue& queue, rte_mbuf* m, Time now);
  void put(ClassScheduler& classes, const Burst& v, LaneMask lanes, Time now);
  void put(ClassScheduler& classes, std::span<const HandedPacket> burst, Time now);
  void put_control(ClassScheduler& classes, rte_mbuf* m, Time now);
  void put_split(ClassScheduler& classes, Time now);
  // `own`: frames of the router, ARP among them, whose sources get no signals.
  void offer(ClassScheduler& classes, const ClassRun& run, Time now, bool own = false);
  void put(QueueTree& tree, const Burst& v, LaneMask lanes, Time now);
  void put(QueueTree& tree, std::span<const HandedPacket> burst, Time now);
  void put_control(QueueTree& tree, rte_mbuf* m, Time now);
  void put_found(QueueTree& tree, std::size_t arrivals, Time now);
  void offer(QueueTree& tree, std::size_t arrivals, Time now, bool own = false);
  std::size_t mark_arrivals(const QueueTree& tree, std::size_t arrivals, Time now);
  inline bool found(bool has_queue, rte_mbuf* m);
  void take_removed(QueueTree& tree, Time now);

  void put_frames(std::span<rte_mbuf* const> burst, Time now);
  template <class Of>
  void act(std::size_t notices, Of of, Time now);
  void note_congestion(Hierarchy::Interface interface, std::size_t class_index, const Packet& p,
                       CongestionEvent event, Time now);
  static std::size_t take(EgressQueues& queues, std::span<rte_mbuf*> room, Time now);
  bool adopt_queues(EgressUpdate& update, Time now);

  PortIndex port_;
  std::uint8_t own_dscp_;       // DSCP of the router's own packets
  std::uint16_t layout_;        // number of the classes' layout
  std::uint32_t signal_limit_;  // signals per second and queue
  config::Signalling::Report report_;
  PortCounters& counters_;
  PacketDisposal& disposal_;
  // The members that a port without `queues` needs are adjacent, before the burst buffers.
  PortShaper shaper_;
  EgressQueues queues_;
  DropReason refusal_ = DropReason::overflow;  // drop reason for packets beyond a PlainQueue's limit
  bool growing_ = false;                       // a queue has packets to copy to a larger ring
  std::size_t classes_;                        // number of the port's own
  ClassSplit split_;
  AggregateMarkers markers_;
  CongestionDomains domains_;
  // Each is used within one call; members because on the stack they would be initialised in each call.
  std::array<Packet, kBurst> packets_;
  std::array<ActiveQueue::Notice, kBurst> notices_;
  std::array<Hierarchy::Arrival, kBurst> arrivals_;
  SignalOutbox notes_;
  CustomerLimiter told_;  // signals per congested interface, in fair parts
};

// New values of all parts of an Egress that its configuration determines.
struct EgressUpdate {
  std::uint16_t layout;
  ClassMoves moves;
  ClassSplit::ClassesByDscp by_dscp;
  std::size_t classes;
  EgressQueues queues;
  std::optional<QueueTree::Update> changes;  // set if the port keeps its tree; `queues` has none then
  PortShaper shaper;
  AggregateMarkers::Set aggregates;
  std::vector<CongestionDomains::Controller> controllers;
  std::vector<Contributors> contributors;  // empty unless classes move
  bool gone;                               // the port was removed
};

}  // namespace surety
