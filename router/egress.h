// What happens to packets that leave by one port: aggregate markers, the classes' queues, the scheduler, the shaper.
//
// Owned by one worker. Knows no device and no clock: the driver enqueues bursts, asks for as many packets as it has room
// for, and looks at next_event() to know when asking again makes sense.
#pragma once

#include <rte_mbuf.h>

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "aqm/class_scheduler.h"
#include "aqm/port_shaper.h"
#include "conditioners/ard_marker.h"
#include "conditioners/csa_controller.h"
#include "router/exits.h"
#include "router/snapshot.h"

namespace surety {

struct AggregateCounters {
  std::uint64_t remarked = 0, dropped = 0, passed_in = 0, passed_out = 0;
};

class Egress {
 public:
  Egress(const Snapshot& snapshot, PortIndex port, PortCounters& counters, Exits& exits, Time now, std::uint64_t seed);

  // Takes over packets (at most kVector) whose frame starts with a 14-byte Ethernet header. Refused ones are dropped.
  void enqueue(std::span<Packet> burst, Time now);
  // Fills `room` with packets that may leave now, in order; they are the driver's from then on.
  std::size_t transmit(std::span<rte_mbuf*> room, Time now);
  // Timers: T2 of the congestion signalling, intervals of the aggregates. Once per turn.
  void advance(Time now);
  // Frees everything queued; for the end of the process.
  void discard(Time now);
  // When transmit() or advance() may have something to do again.
  Time next_event(Time now) const;

  // alpha of a domain of this port (index into Snapshot::domains).
  Ratio alpha(std::uint16_t domain) const { return controllers_[domain - first_domain_].alpha(); }

  const ClassScheduler& scheduler() const { return scheduler_; }
  struct Aggregate {
    std::size_t config_index;
    std::size_t class_index;
    std::uint8_t out_dscp;
    ArdMarker marker;
    AggregateCounters counters;
  };
  std::span<const Aggregate> aggregates() const { return aggregates_; }

 private:
  void find_classes(std::span<Packet> burst);
  void mark_aggregates(std::span<Packet> burst, Time now);
  void queue(std::span<Packet> burst, Time now);
  void queue_plain(std::span<Packet> burst, Time now);
  void signal(std::size_t class_index, CongestionEvent event, Time now);
  Aggregate* aggregate_of(std::size_t class_index);

  const config::QueueSet& classes_;
  PortIndex port_;
  PortCounters& counters_;
  Exits& exits_;
  ClassScheduler scheduler_;
  PortShaper shaper_;
  std::vector<Aggregate> aggregates_;
  std::vector<CsaController> controllers_;  // of the domains first_domain_, first_domain_ + 1, ...
  std::vector<std::size_t> controller_class_;
  std::uint16_t first_domain_ = 0;
  bool plain_;  // the port has no `queues`
  // Of the burst at hand: class and traffic class byte of each packet.
  std::array<std::uint8_t, kVector> class_;
  std::array<std::uint8_t, kVector> traffic_class_;
};

}  // namespace surety
