// SPDX-License-Identifier: BSD-3-Clause
// The state that the workers of a router share: the tables by which they forward, and the rings between them.
#pragma once

#include <rte_rcu_qsbr.h>

#include <memory>
#include <vector>

#include "router/daemon/ports/work_plan.h"
#include "router/pipeline/burst.h"
#include "router/pipeline/handover.h"
#include "router/pipeline/routes/fib.h"
#include "router/pipeline/routes/neighbors.h"
#include "router/pipeline/routes/paths.h"
#include "router/pipeline/routes/route_events.h"
#include "router/pipeline/signals/congestion_signal.h"

namespace surety {

// The tables that Routes programs: the FIB and the next hops that workers read, changed safely meanwhile.
class Forwarding : public RouteSink {
 public:
  Forwarding(std::uint32_t max_routes, unsigned workers);

  bool set_route(const Prefix& prefix, RouteTarget target) override {
    return fib_.add(prefix, target_of(prefix, target).encode());
  }
  void remove_route(const Prefix& prefix) override { fib_.remove(prefix); }
  void set_next_hop(std::uint32_t id, const NextHopEntry& entry) override { next_hops_.set(id, entry); }

  const Fib& fib() const { return fib_; }
  const NextHopTable& next_hops() const { return next_hops_; }
  // Announces next hops set to `opening` since the last call: workers release the packets that wait for them.
  void announce_opening() { next_hops_.announce_opening(); }

  // mark() returns a token of all changes so far; seen() is true if all workers have begun a turn since then,
  // or sleep.
  std::uint64_t mark() { return rte_rcu_qsbr_start(rcu_.get()); }
  bool seen(std::uint64_t mark) { return rte_rcu_qsbr_check(rcu_.get(), mark, false) == 1; }

  // Workers register here and report a quiescent state each turn.
  rte_rcu_qsbr* rcu() { return rcu_.get(); }

 private:
  struct Free {
    void operator()(rte_rcu_qsbr* p) const;
  };
  Fib fib_;
  NextHopTable next_hops_;
  std::unique_ptr<rte_rcu_qsbr, Free> rcu_;
};

// Congestion signals from one worker to another. If the ring is full a signal is lost, as it may be on the
// wire.
using SignalRing = SpscRing<CongestionSignal>;

// The rings between workers: made before they run, and those of a port before it is added.
//
// Each ring has one writer and one reader. With one worker there are only those of the control thread.
class Fabric {
 public:
  // Rings bear `name`, at most 12 characters, unique in the process. Throws std::runtime_error without
  // memory.
  Fabric(const std::string& name, const WorkPlan& plan);

  // Makes the rings of a new port, in place of those of a removed port that no worker uses. Throws
  // std::runtime_error without memory.
  void open(const WorkPlan& plan, PortIndex port);

  // The ring from `worker` to the owner of `port`; nullptr: it is the owner.
  EgressHandover* to_owner(std::size_t worker, PortIndex port) const { return owner_[worker][port].get(); }
  // The ring from the reader of `port`, which dispatches, to `worker`; nullptr: `worker` is the reader, or
  // the reader does not dispatch.
  Handover* dispatched(PortIndex port, std::size_t worker) const { return dispatched_[port][worker].get(); }
  // The ring from the control thread to the owner of `port`: frames of the router's own kernel.
  Handover* injected(PortIndex port) const { return injected_[port].get(); }
  // nullptr: from itself.
  SignalRing* signals(std::size_t from, std::size_t to) const { return signals_[from][to].get(); }

 private:
  const std::string name_;
  std::vector<std::vector<std::unique_ptr<EgressHandover>>> owner_;
  std::vector<std::vector<std::unique_ptr<Handover>>> dispatched_;
  std::vector<std::unique_ptr<Handover>> injected_;
  std::vector<std::vector<std::unique_ptr<SignalRing>>> signals_;
};

}  // namespace surety
