// SPDX-License-Identifier: BSD-3-Clause
// The flows that a congestion signal concerns: all on the path of its destination
// (router/pipeline/routes/paths.h), if this router is the border with the signal's source behind a customer
// port (router/pipeline/signals/README.md).
#pragma once

#include <cstdint>

#include "router/pipeline/routes/fib.h"
#include "router/pipeline/routes/neighbors.h"
#include "router/pipeline/routes/paths.h"
#include "router/pipeline/signals/congestion_signal.h"
#include "router/pipeline/snapshot.h"

namespace surety {

struct SignalPath {
  SignalResult result = SignalResult::applied;  // other values: the remaining fields are unset
  Path path;
  std::uint32_t ports = 0;  // egress ports of the path's next hops, one bit each
  std::uint8_t dscp = 0;    // the congested packet's; selects the domains of its class
  SignalKind kind = SignalKind::sample;
};

RouteTarget route_of(const Fib& fib, const IpAddress& address);

// Calls f(interface) for each interface that a route leads to, whether its neighbours are known or not, until
// f returns true. Returns true if f did.
template <class F>
bool any_way(RouteTarget target, const NextHopTable& next_hops, F&& f) {
  using State = NextHopEntry::State;
  for (std::uint32_t id = target.first; id < target.first + target.count; ++id) {
    const NextHopEntry hop = next_hops.get(id);
    const bool leads =
        hop.state == State::glean || hop.state == State::unresolved || NextHopEntry::known(hop.state);
    if (leads && f(hop.interface)) return true;
  }
  return false;
}

// True if the domain's OUT packets use a queue that packets of this DSCP congest; false for retired domains,
// whose flows are about to leave them.
bool concerns(const Snapshot& snapshot, const CsaDomain& domain, std::uint8_t dscp);

SignalPath find_signal_path(const Snapshot& snapshot, const Fib& fib, const NextHopTable& next_hops,
                            const CongestionSignal& signal);

}  // namespace surety
