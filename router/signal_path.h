// Which flows a congestion signal concerns: those on the route of its destination, if this is the border that
// has its source behind a customer port (DESIGN.md section 4, "Congestion signalling").
#pragma once

#include <cstdint>

#include "router/congestion_signal.h"
#include "router/fib.h"
#include "router/neighbors.h"
#include "router/snapshot.h"

namespace surety {

struct SignalPath {
  SignalResult result = SignalResult::applied;  // anything else: the rest does not count
  RouteTarget target;
  std::uint32_t ports = 0;  // that its next hops leave by, one bit each
};

SignalPath find_signal_path(const Snapshot& snapshot, const Fib& fib, const NextHopTable& next_hops,
                            const CongestionSignal& signal);

}  // namespace surety
