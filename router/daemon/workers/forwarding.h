// SPDX-License-Identifier: BSD-3-Clause
// The tables that Routes programs: the FIB and the next hops that workers read, changed safely meanwhile.
#pragma once

#include <rte_rcu_qsbr.h>

#include <memory>

#include "router/pipeline/routes/fib.h"
#include "router/pipeline/routes/neighbors.h"
#include "router/pipeline/routes/paths.h"
#include "router/pipeline/routes/route_events.h"

namespace surety {

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

}  // namespace surety
