// SPDX-License-Identifier: BSD-3-Clause
// The sources of a worker's packets: the receive queues that the plan assigns to it, and the rings by which
// readers of other queues dispatch to it.
//
// A turn takes a burst from each source, in a fixed order. Packets from a port that dispatches go to the
// workers of their flows; if a worker's ring is full they are dropped as dispatch_full. Packets of a flow
// stay in order.
#pragma once

#include <utility>
#include <vector>

#include "router/daemon/workers/sleeper.h"
#include "router/daemon/workers/worker_context.h"
#include "router/pipeline/dispatch.h"
#include "router/pipeline/ingress.h"

namespace surety {

class Receiver {
 public:
  Receiver(const WorkerContext& context, std::uint64_t dispatch_seed);

  // Passes a burst of each source to `ingress`; called once per turn. Returns the number of packets,
  // including those dispatched to other workers.
  std::size_t receive(Ingress& ingress, Time now);
  // Ends reception from devices; packets dispatched by others are still taken.
  void stop() { receiving_ = false; }
  bool receiving() const { return receiving_; }
  // True if packets are in the rings.
  bool dispatched_waits() const;
  // The workers, one bit each, to which packets were dispatched since the last call.
  std::uint64_t take_dispatched() { return std::exchange(dispatched_to_, 0); }

  struct Source {
    PortIndex port = 0;
    std::uint16_t queue = 0;
    bool dispatch = false;           // dispatches to all workers, by flow
    DpdkPort* device = nullptr;      // nullptr: the source is not a queue but ...
    Handover* dispatched = nullptr;  // ... the ring from the port's reader to this worker
    friend bool operator==(const Source&, const Source&) = default;
  };
  struct Sources {
    std::vector<Source> all;
    std::vector<Dispatch> dispatch;  // indexed by port
  };
  // The sources of this worker in another plan: none for a device that is not open yet. From a port that the
  // plan removes it still drains the ring. Thread-safe.
  Sources prepare(const WorkPlan& plan) const;
  // Replaces the sources, also in `sleeper`; returns the previous ones in `sources`. Result: as watch().
  bool adopt(Sources& sources, Sleeper& sleeper);

  // Has the devices wake `sleeper`; false: a device has no descriptor.
  bool watch(Sleeper& sleeper);
  // Enables or disables device interrupts, around a sleep.
  void arm(bool on) const;

 private:
  std::size_t take(const Source& source, std::span<rte_mbuf*> room) const;
  std::size_t dispatch(std::span<rte_mbuf*> burst, PortIndex port);

  const WorkerContext context_;
  const std::uint64_t dispatch_seed_;
  Sources sources_;
  std::uint64_t dispatched_to_ = 0;
  bool receiving_ = true, all_wake_ = false;
};

}  // namespace surety
