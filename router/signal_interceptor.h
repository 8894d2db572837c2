// SPDX-License-Identifier: BSD-3-Clause
// What a router does with a congestion signal that comes by one of its ports (router/signals/README.md).
//
// It goes on, as any packet, unless it ends here: because it came by a customer port (only routers signal),
// because it is for this router or for somebody behind one of its customer ports (there is nobody else whom
// it could be for), or because it would leave by a customer port. What ends here is judged by the gate; with
// signalling off, or without keys, all of it is refused.
#pragma once

#include <optional>
#include <span>

#include "router/signal_path.h"
#include "router/signals/signal_gate.h"
#include "router/snapshot.h"

namespace surety {

class SignalInterceptor {
 public:
  // All but the snapshot must outlive this. `keys`, `wall`: null where signalling is off. `now`: signals that
  // were sent before are refused.
  SignalInterceptor(const Snapshot& snapshot, const Fib& fib, const NextHopTable& next_hops,
                    const SignalKeys* keys, const WallClock* wall, Time now);

  struct Decision {
    bool ends = false;                            // here; else the rest does not count
    SignalResult result = SignalResult::applied;  // applied: authentic; `signal` is what it says
    CongestionSignal signal;
  };
  // `ip`: a packet that parse() has passed, of which is_signal() is true.
  Decision decide(std::span<const std::uint8_t> ip, InterfaceIndex interface, Time now);

  // Another configuration, of which only the trust of interfaces may differ here.
  void adopt(const Snapshot& snapshot) { snapshot_ = &snapshot; }

  // One that another worker has believed.
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
