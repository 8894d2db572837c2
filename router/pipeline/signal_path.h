// SPDX-License-Identifier: BSD-3-Clause
// Congestion signals that a port receives: whether a signal ends at this router, and the flows that it
// concerns (router/pipeline/signals/README.md).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "router/pipeline/routes/fib.h"
#include "router/pipeline/routes/neighbors.h"
#include "router/pipeline/routes/paths.h"
#include "router/pipeline/signals/congestion_signal.h"
#include "router/pipeline/signals/signal_gate.h"
#include "router/pipeline/snapshot.h"

namespace surety {

// The flows that a congestion signal concerns: all on the path of its destination
// (router/pipeline/routes/paths.h), if this router is the border with the signal's source behind a customer
// port.
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

// Decides about a congestion signal that a port receives.
//
// A signal is forwarded as any packet unless it ends here: if it came by a customer port (only routers
// signal), if its destination is this router or lies behind one of its customer ports, or if it would leave
// by a customer port. The gate checks signals that end here; with signalling off, or without keys, it refuses
// all.
class SignalInterceptor {
 public:
  // All arguments but the snapshot must outlive this object. `keys`, `wall`: nullptr if signalling is off.
  // `now`: signals sent before it are refused.
  SignalInterceptor(const Snapshot& snapshot, const Fib& fib, const NextHopTable& next_hops,
                    const SignalKeys* keys, const WallClock* wall, Time now);

  struct Decision {
    bool ends = false;                            // at this router; if false, the other fields are unset
    SignalResult result = SignalResult::applied;  // applied: authentic; `signal` has its content
    CongestionSignal signal;
  };
  // `ip`: a packet that parse() has passed and for which is_signal() is true.
  Decision decide(std::span<const std::uint8_t> ip, InterfaceIndex interface, Time now);

  // Replaces the configuration; only the trust of interfaces may differ.
  void adopt(const Snapshot& snapshot) { snapshot_ = &snapshot; }

  // Records a signal that another worker has accepted.
  void remember(const CongestionSignal& signal, Time now) {
    if (gate_) gate_->remember(signal, now);
  }

  const SignalGate* gate() const { return gate_ ? &*gate_ : nullptr; }
  void set_keys(const SignalKeys& keys) {
    if (gate_) gate_->set_keys(keys);
  }

 private:
  const Fib& fib_;
  const NextHopTable& next_hops_;
  const Snapshot* snapshot_;
  const WallClock* wall_;
  std::optional<SignalGate> gate_;
};

}  // namespace surety
