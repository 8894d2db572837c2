// SPDX-License-Identifier: BSD-3-Clause
// Which flows a congestion signal concerns: those on the path of its destination (router/routes/paths.h), if
// this is the border that has its source behind a customer port (router/signals/README.md).
#pragma once

#include <cstdint>

#include "router/routes/fib.h"
#include "router/routes/neighbors.h"
#include "router/routes/paths.h"
#include "router/signals/congestion_signal.h"
#include "router/snapshot.h"

namespace surety {

struct SignalPath {
  SignalResult result = SignalResult::applied;  // anything else: the rest does not count
  Path path;
  std::uint32_t ports = 0;  // that its next hops leave by, one bit each
  std::uint8_t dscp = 0;    // of the congested packet: the domains of its class are concerned
  SignalKind kind = SignalKind::sample;
};

RouteTarget route_of(const Fib& fib, const IpAddress& address);

// Calls f(interface) for those that the route of an address leads to, whether their neighbours are known or
// not, until it says true; whether it has.
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

// Whether a queue that packets of this DSCP congest is one that the domain's OUT packets go through; never of
// one that is retired: its flows are about to leave it.
bool concerns(const Snapshot& snapshot, const CsaDomain& domain, std::uint8_t dscp);

SignalPath find_signal_path(const Snapshot& snapshot, const Fib& fib, const NextHopTable& next_hops,
                            const CongestionSignal& signal);

}  // namespace surety
