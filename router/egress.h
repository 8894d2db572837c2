// SPDX-License-Identifier: BSD-3-Clause
// What happens to packets that leave by one port: aggregate markers, the classes' queues, the scheduler, the
// shaper.
//
// Owned by one worker. Knows no device and no clock: the driver enqueues bursts, asks for as many packets as
// it has room for, and looks at next_event() to know when asking again makes sense.
#pragma once

#include <rte_mbuf.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "aqm/class_scheduler.h"
#include "aqm/port_shaper.h"
#include "conditioners/csa_controller.h"
#include "router/aggregate_markers.h"
#include "router/exits.h"
#include "router/handover.h"
#include "router/plain_queue.h"
#include "router/signals/congestion_signal.h"
#include "router/snapshot.h"

namespace surety {

struct EgressUpdate;

class Egress {
 public:
  Egress(const Snapshot& snapshot, PortIndex port, PortCounters& counters, Exits& exits, Time now,
         std::uint64_t seed);

  // Another configuration for a port that goes on: its classes are the same (names, order, strict or not).
  // Any thread may prepare; touches no Egress. `now` and `seed` are for what is new, as the constructor's.
  static std::unique_ptr<EgressUpdate> prepare(const Snapshot& snapshot, PortIndex port, Time now,
                                               std::uint64_t seed);
  // Takes it over between two turns, without allocation: the snapshot is not needed any more, packets queued
  // stay and leave in their order, counters go on. So do the averages of RIO, the credit of shapers, alpha
  // and its timers of a domain that is kept, and meters and tokens of an aggregate that keeps its name. A
  // larger limit of a queue that holds packets comes into force within the next calls of advance(), a slice
  // of the packets each. What is left in `update` is to be freed by whoever destroys it.
  void adopt(EgressUpdate& update, Time now);

  // Takes over packets (at most kVector) whose frame starts with a 14-byte Ethernet header. Refused ones are
  // dropped.
  void enqueue(std::span<Packet> burst, Time now);
  // The same for a port that is plain().
  void enqueue_plain(std::span<rte_mbuf* const> burst, Time now);
  // What enqueue() would find in a frame of `length` bytes of IP. For the workers that do not own the port,
  // and hand over: asks only what never changes, and the port's `classes` of the caller's own snapshot.
  HandedPacket describe(rte_mbuf* m, std::uint16_t length, const config::QueueSet& classes) const;
  // enqueue() for what another worker has handed over.
  void enqueue_handed(std::span<const HandedPacket> burst, Time now);
  // The same for frames of which nothing is known.
  void enqueue_frames(std::span<rte_mbuf* const> burst, Time now);
  // The same for frames of this router's own kernel, of any kind: what is not IP takes the class of CS6.
  void enqueue_own(std::span<rte_mbuf* const> burst, Time now);
  // Fills `room`, up to kVector, with packets that may leave now, in order; they are the driver's from then
  // on.
  std::size_t transmit(std::span<rte_mbuf*> room, Time now);
  // Timers: T2 of the congestion signalling, intervals of the aggregates. Once per turn.
  void advance(Time now);
  // Frees everything queued; for the end of the process.
  void discard(Time now);
  // When transmit() or advance() may have something to do again.
  Time next_event(Time now) const { return std::min(next_departure(now), next_timer()); }
  Time next_departure(Time now) const;  // transmit(); kNever: nothing is queued
  Time next_timer() const;              // advance()

  // Whether congested queues ask for signals towards the sources of their OUT packets: one at each 8th
  // arrival. Off at the start. For internal routers: a border's own queues drive the alpha of its flows
  // directly.
  void enable_signals(bool on) { signals_on_ = on; }
  // The oldest signals asked for, now the driver's to send. Once per turn.
  std::size_t take_signals(std::span<CongestionSignal> out) { return signals_.take(out); }
  const SignalOutbox& signals() const { return signals_; }

  // alpha of a domain of this port (index into Snapshot::domains); 1 for one that is not adopted yet. From
  // any thread, at all times.
  Ratio alpha(std::uint16_t domain) const { return alphas_[domain].load(std::memory_order_relaxed); }

  std::uint32_t depth() const { return plain_ ? plain_->depth() : scheduler_.depth(); }  // packets queued
  const ClassScheduler& scheduler() const {
    return scheduler_;
  }  // its queues stay empty when the port is plain
  // The queue of a port without `queues`; null for others.
  const PlainQueue* plain() const { return plain_ ? &*plain_ : nullptr; }
  struct Aggregate {
    std::size_t config_index;  // in the configuration adopted last
    std::size_t class_index;
    std::uint8_t out_dscp;
    ArdMarker marker;
    AggregateCounters counters;
    std::string name;
  };
  std::span<const Aggregate> aggregates() const { return aggregates_; }
  struct Controller {
    std::uint16_t domain;
    std::size_t class_index;
    CsaController csa;
  };

 private:
  // Packets copied per turn to a queue's larger ring: a few microseconds, and more than can come and go in a
  // turn, so that it ends.
  static constexpr std::uint32_t kSlice = 512;
  using ClassesByDscp = decltype(config::QueueSet::by_dscp);
  Egress(EgressUpdate&& start, const Snapshot& snapshot, PortIndex port, PortCounters& counters,
         Exits& exits);
  struct Arrival {
    std::uint8_t class_index;
    bool ecn_capable;
  };
  struct Arrivals {
    Packet* packets;
    std::size_t size;
    std::array<std::uint8_t, kVector> class_of;
    std::array<bool, kVector> ecn_capable;
  };
  static Arrival find_class(Packet& p, const ClassesByDscp& by_dscp);
  void enqueue_classes(Arrivals& a, bool others, Time now);
  bool enqueue_first_class(Arrivals& a, Time now);
  void enqueue_class(std::size_t class_index, std::span<Packet> run, std::span<bool> ecn_capable, Time now);
  std::size_t mark_aggregate(Aggregate& a, std::span<Packet> run, std::span<bool> ecn_capable, Time now);
  static bool mark(Aggregate& a, Packet& p, Time now);
  void enqueue_control(rte_mbuf* m, Time now);
  void publish(const Controller& c) { alphas_[c.domain].store(c.csa.alpha(), std::memory_order_relaxed); }
  void adopt_aggregates(std::vector<Aggregate>& fresh, Time now);
  void adopt_controllers(std::vector<Controller>& fresh);
  void find_aggregates();
  void signal(std::size_t class_index, CongestionEvent event, const Packet& p, Time now);
  void ask_for_signal(std::size_t class_index, const Packet& p, Time now);

  ClassesByDscp by_dscp_;
  PortIndex port_;
  PortCounters& counters_;
  Exits& exits_;
  ClassScheduler scheduler_;
  PortShaper shaper_;
  std::vector<Aggregate> aggregates_;
  std::vector<Aggregate*> aggregate_of_;  // by class; null: none
  std::vector<Controller> controllers_;   // of this port's domains, retired ones too: flows may live by them
  // What the controllers say, for other workers: by domain, with room for all that may come.
  std::unique_ptr<std::atomic<Ratio>[]> alphas_;
  bool signals_on_ = false, growing_ = false;  // growing_: a queue has packets to copy to a larger ring
  std::optional<PlainQueue> plain_;            // the port has no `queues`
  SignalOutbox signals_;
  // Of one call each; members because the stack's would be initialised in each.
  std::array<Packet, kVector> packets_, taken_;
  std::array<ActiveQueue::Notice, kVector> notices_;
};

// All of an Egress that its configuration decides, as new.
struct EgressUpdate {
  decltype(config::QueueSet::by_dscp) by_dscp;
  ClassScheduler scheduler;
  PortShaper shaper;
  std::vector<Egress::Aggregate> aggregates;
  std::vector<Egress::Controller> controllers;
};

}  // namespace surety
