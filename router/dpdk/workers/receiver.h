// SPDX-License-Identifier: BSD-3-Clause
// Where the packets of a worker come from: the receive queues that the plan gives it, and the rings by which
// readers of other queues dispatch to it.
//
// A turn takes a burst from each source, in an order that never changes. What is received by a port that
// dispatches goes to the workers that have the flows; what finds a worker's ring full is dropped as
// dispatch_full. Packets of a flow stay in their order.
#pragma once

#include <utility>
#include <vector>

#include "router/dispatch.h"
#include "router/dpdk/workers/sleeper.h"
#include "router/dpdk/workers/worker_context.h"
#include "router/ingress.h"

namespace surety {

class Receiver {
 public:
  Receiver(const WorkerContext& context, std::uint64_t dispatch_seed);

  // Once per turn: a burst of each source to `ingress`. Returns how many packets that were, with those that
  // went to other workers.
  std::size_t receive(Ingress& ingress, Time now);
  // Nothing more is received from devices; what others dispatch is still taken.
  void stop() { receiving_ = false; }
  bool receiving() const { return receiving_; }
  // Whether there is something in the rings.
  bool dispatched_waits() const;
  // The workers, a bit each, to whom something was dispatched since the last call.
  std::uint64_t take_dispatched() { return std::exchange(dispatched_to_, 0); }

  struct Source {
    PortIndex port = 0;
    std::uint16_t queue = 0;
    bool dispatch = false;           // to all workers, by flow
    DpdkPort* device = nullptr;      // null: not a queue, but ...
    Handover* dispatched = nullptr;  // ... what the port's reader has dispatched to this worker
    friend bool operator==(const Source&, const Source&) = default;
  };
  struct Sources {
    std::vector<Source> all;
    std::vector<Dispatch> dispatch;  // by port
  };
  // What another plan gives this worker to receive: a device that is not open yet, nothing. Of a port that
  // goes with the plan, it still takes what is in the ring. Any thread.
  Sources prepare(const WorkPlan& plan) const;
  // Goes on by them, and has `sleeper` woken by these instead; leaves those before there. false: as watch().
  bool adopt(Sources& sources, Sleeper& sleeper);

  // Has `sleeper` woken by what the devices receive; false: there is one that cannot tell.
  bool watch(Sleeper& sleeper);
  // Around a sleep: devices interrupt, or do not.
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
