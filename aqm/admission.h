// SPDX-License-Identifier: BSD-3-Clause
// Decides whether an arrival may join its queue: RIO's verdict first, then whether there is room.
//
// Common to queues of any storage (active_queue.h has rings, hierarchy/pooled_queue.h chunks of a pool). A
// packet that RIO refuses is `early` or `forced` even when the queue is full; one that it accepts or would
// mark, but for which there is no room, is `overflow` (and not marked).
#pragma once

#include <array>
#include <cstdint>

#include "aqm/rio.h"
#include "conditioners/csa_controller.h"
#include "conditioners/packet.h"

namespace surety {

struct ArrivalResult {
  DropReason drop = DropReason::none;  // early, forced, overflow or none
  bool mark = false;                   // set CE on it (it was accepted)
  // CSA's congestion event for this OUT arrival, refused ones included: judged on the average that counts it.
  // None without RIO.
  CongestionEvent event = CongestionEvent::none;
};

// Action for the caller on one packet of a burst: drop, mark, or signal.
struct ArrivalNotice {
  std::uint8_t index = 0;  // position of the packet in the burst
  ArrivalResult result;
  bool needed() const {
    return (result.drop != DropReason::none) | result.mark | (result.event != CongestionEvent::none);
  }
};

struct Admission {
  RioVerdict verdict;
  bool overflow, admitted, marked;

  // Without a branch on the verdict, which no predictor can learn.
  Admission(RioVerdict of_rio, bool full)
      : verdict(of_rio),
        overflow((of_rio < RioVerdict::early) & full),
        admitted((of_rio < RioVerdict::early) & !full),
        marked(admitted & (of_rio == RioVerdict::mark)) {}

  DropReason drop() const {
    constexpr std::array<DropReason, 4> kByVerdict{DropReason::none, DropReason::none, DropReason::early,
                                                   DropReason::forced};
    return overflow ? DropReason::overflow : kByVerdict[static_cast<std::size_t>(verdict)];
  }
  // In counters of the arrival's precedence; the arrival itself counts elsewhere.
  template <class Counters>
  void count(Counters& counters) const {
    counters.early_drops += verdict == RioVerdict::early;
    counters.forced_drops += verdict == RioVerdict::forced;
    counters.overflow_drops += overflow;
    counters.ecn_marks += marked;
  }
};

}  // namespace surety
