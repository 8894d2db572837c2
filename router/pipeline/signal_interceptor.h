// SPDX-License-Identifier: BSD-3-Clause
// Decides about a congestion signal that a port receives (router/pipeline/signals/README.md).
//
// A signal is forwarded as any packet unless it ends here: if it came by a customer port (only routers
// signal), if its destination is this router or lies behind one of its customer ports, or if it would leave
// by a customer port. The gate checks signals that end here; with signalling off, or without keys, it refuses
// all.
#pragma once

#include <optional>
#include <span>

#include "router/pipeline/signal_path.h"
#include "router/pipeline/signals/signal_gate.h"
#include "router/pipeline/snapshot.h"

namespace surety {

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
