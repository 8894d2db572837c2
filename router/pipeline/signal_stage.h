// SPDX-License-Identifier: BSD-3-Clause
// The congestion signals that reach a worker: takes those that end at this router out of a burst, and holds
// back the flows that they concern. Each signal received is counted once, by its result.
#pragma once

#include <span>

#include "router/pipeline/burst.h"
#include "router/pipeline/condition_stage.h"
#include "router/pipeline/counters.h"
#include "router/pipeline/handover.h"
#include "router/pipeline/packet_disposal.h"
#include "router/pipeline/signal_path.h"
#include "router/pipeline/signals/congestion_signal.h"
#include "router/pipeline/snapshot.h"

namespace surety {

class SignalStage {
 public:
  // All arguments must outlive this object. `condition`: holds the flows back; `port_egresses`: indexed by
  // port; `keys`, `wall`: nullptr if signalling is off.
  SignalStage(const Snapshot& snapshot, const Fib& fib, const NextHopTable& next_hops,
              ConditionStage& condition, std::span<const PortEgress> port_egresses,
              std::span<PortCounters> ports, PacketDisposal& disposal, const SignalKeys* keys,
              const WallClock* wall, Time now);
  // Applies a reload.
  void adopt(const Snapshot& snapshot) {
    snapshot_ = &snapshot;
    interceptor_.adopt(snapshot);
  }

  // Removes the signals that end here from a burst of `port`.
  void run(Burst& v, PortIndex port, Time now);
  // The two functions of Ingress.
  SignalResult on_signal(const CongestionSignal& signal, Time now);
  void on_shared(const CongestionSignal& signal, Time now);
  // Holds flows back without counting the signal.
  SignalResult follow(const CongestionSignal& signal, Time now);
  std::size_t take_shared(std::span<CongestionSignal> out) { return shared_.take(out); }
  void share(bool on) { sharing_ = on; }

  const SignalCounters& counters() const { return counters_; }
  SignalInterceptor& interceptor() { return interceptor_; }
  const SignalInterceptor& interceptor() const { return interceptor_; }

 private:
  const Snapshot* snapshot_;
  const Fib& fib_;
  const NextHopTable& next_hops_;
  ConditionStage& condition_;
  std::span<const PortEgress> port_egresses_;
  std::span<PortCounters> ports_;
  PacketDisposal& disposal_;
  SignalInterceptor interceptor_;
  SignalCounters counters_{};
  SignalOutbox shared_;
  bool sharing_ = false;
};

}  // namespace surety
