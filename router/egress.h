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
#include <vector>

#include "aqm/class_scheduler.h"
#include "aqm/port_shaper.h"
#include "conditioners/ard_marker.h"
#include "conditioners/csa_controller.h"
#include "router/congestion_signal.h"
#include "router/exits.h"
#include "router/handover.h"
#include "router/plain_queue.h"
#include "router/snapshot.h"

namespace surety {

struct AggregateCounters {
  std::uint64_t remarked = 0, dropped = 0, passed_in = 0, passed_out = 0;
};

class Egress {
 public:
  Egress(const Snapshot& snapshot, PortIndex port, PortCounters& counters, Exits& exits, Time now,
         std::uint64_t seed);

  // Takes over packets (at most kVector) whose frame starts with a 14-byte Ethernet header. Refused ones are
  // dropped.
  void enqueue(std::span<Packet> burst, Time now);
  // The same for a port that is plain().
  void enqueue_plain(std::span<rte_mbuf* const> burst, Time now);
  // What enqueue() would find in a frame of `length` bytes of IP. Asks only what never changes: for the
  // workers that do not own the port, and hand over.
  HandedPacket describe(rte_mbuf* m, std::uint16_t length) const;
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

  // alpha of a domain of this port (index into Snapshot::domains). From any thread.
  Ratio alpha(std::uint16_t domain) const {
    return alphas_[domain - first_domain_].load(std::memory_order_relaxed);
  }

  std::uint32_t depth() const { return plain_ ? plain_->depth() : scheduler_.depth(); }  // packets queued
  const ClassScheduler& scheduler() const {
    return scheduler_;
  }  // its queues stay empty when the port is plain
  // The queue of a port without `queues`; null for others.
  const PlainQueue* plain() const { return plain_ ? &*plain_ : nullptr; }
  struct Aggregate {
    std::size_t config_index;
    std::size_t class_index;
    std::uint8_t out_dscp;
    ArdMarker marker;
    AggregateCounters counters;
  };
  std::span<const Aggregate> aggregates() const { return aggregates_; }

 private:
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
  Arrival find_class(Packet& p) const;
  void enqueue_classes(Arrivals& a, bool others, Time now);
  bool enqueue_first_class(Arrivals& a, Time now);
  void enqueue_class(std::size_t class_index, std::span<Packet> run, std::span<bool> ecn_capable, Time now);
  std::size_t mark_aggregate(Aggregate& a, std::span<Packet> run, std::span<bool> ecn_capable, Time now);
  static bool mark(Aggregate& a, Packet& p, Time now);
  void enqueue_control(rte_mbuf* m, Time now);
  void publish(std::size_t controller) {
    alphas_[controller].store(controllers_[controller].alpha(), std::memory_order_relaxed);
  }
  void signal(std::size_t class_index, CongestionEvent event, const Packet& p, Time now);
  void ask_for_signal(std::size_t class_index, const Packet& p, Time now);

  const config::QueueSet& classes_;
  PortIndex port_;
  PortCounters& counters_;
  Exits& exits_;
  ClassScheduler scheduler_;
  PortShaper shaper_;
  std::vector<Aggregate> aggregates_;
  std::vector<Aggregate*> aggregate_of_;    // by class; null: none
  std::vector<CsaController> controllers_;  // of the domains first_domain_, first_domain_ + 1, ...
  std::vector<std::size_t> controller_class_;
  std::unique_ptr<std::atomic<Ratio>[]> alphas_;  // what the controllers say, for other workers
  std::uint16_t first_domain_ = 0;
  bool signals_on_ = false;
  std::optional<PlainQueue> plain_;  // the port has no `queues`
  SignalOutbox signals_;
  // Of one call each; members because the stack's would be initialised in each.
  std::array<Packet, kVector> packets_, taken_;
  std::array<ActiveQueue::Notice, kVector> notices_;
};

}  // namespace surety
