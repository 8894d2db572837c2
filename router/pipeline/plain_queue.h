// SPDX-License-Identifier: BSD-3-Clause
// The queue of a port without `queues`: first in, first out, with tail drop.
//
// Works on whole bursts of mbuf pointers, since it decides nothing per packet. All packets count as OUT: they
// have no guarantee. Guarantees the law of ActiveQueue: arrivals = departures + overflow + depth.
#pragma once

#include <rte_mbuf.h>

#include <cstdint>
#include <span>
#include <vector>

#include "aqm/port_shaper.h"
#include "aqm/queue_decision.h"
#include "aqm/sojourn_histogram.h"
#include "conditioners/units.h"

namespace surety {

class PlainQueue {
 public:
  explicit PlainQueue(std::uint32_t limit);
  // Takes over the limit of `fresh`, which must not be 0; queued packets beyond the limit stay until they
  // leave.
  void adopt(const PlainQueue& fresh) { limit_ = fresh.limit_; }

  // Takes the first packets of `burst` for which there is room; returns how many.
  std::size_t enqueue(std::span<rte_mbuf* const> burst, Time now);
  // Fills `room` with packets as far as `shaper` permits (advanced to `now`, and charged).
  std::size_t dequeue(std::span<rte_mbuf*> room, PortShaper& shaper, Time now);
  Time next_event(Time now) const { return depth() == 0 ? kNever : now; }

  std::uint32_t depth() const { return tail_ - head_; }
  std::uint32_t limit() const { return limit_; }
  static bool congested(std::size_t, Time) { return false; }
  const QueueCounters& counters() const { return counters_; }
  QueueStatus status() const {
    return {.counters = {{{}, counters_}}, .depth = {0, depth()}, .level = static_cast<double>(depth())};
  }
  const SojournHistogram& sojourn() const { return sojourn_; }

 private:
  struct ArrivalRun {  // arrived at `time`; `end` is behind its last packet
    std::uint32_t end;
    Time time;
  };
  void note_sojourn(Time now);

  std::vector<rte_mbuf*> ring_;     // size a power of two; head and tail are not wrapped
  std::vector<ArrivalRun> bursts_;  // size of ring_: at most one burst per packet
  std::uint32_t head_ = 0, tail_ = 0, first_burst_ = 0, last_burst_ = 0, counted_ = 0;
  std::uint32_t mask_, limit_;
  QueueCounters counters_;
  SojournHistogram sojourn_;
};

}  // namespace surety
