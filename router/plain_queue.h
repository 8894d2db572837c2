// SPDX-License-Identifier: BSD-3-Clause
// What a port without `queues` has: one first-in-first-out queue of frames with tail drop.
//
// Works on whole bursts of mbuf pointers, since there is nothing to decide per packet. All packets count as
// OUT: nothing was promised. Guarantees the law of ActiveQueue: arrivals = departures + overflow + depth.
#pragma once

#include <rte_mbuf.h>

#include <cstdint>
#include <span>
#include <vector>

#include "aqm/active_queue.h"
#include "aqm/port_shaper.h"
#include "conditioners/units.h"

namespace surety {

class PlainQueue {
 public:
  explicit PlainQueue(std::uint32_t limit);
  // Takes the limit of another one, which was made with any but 0; what waits beyond it leaves first.
  void adopt(const PlainQueue& fresh) { limit_ = fresh.limit_; }

  // Takes the first packets of `burst` for which there is room; returns how many.
  std::size_t enqueue(std::span<rte_mbuf* const> burst, Time now);
  // Fills `room` with packets that may leave while `shaper` lets them (advanced to `now`; it is charged).
  std::size_t dequeue(std::span<rte_mbuf*> room, PortShaper& shaper, Time now);

  // Takes packets out, whatever a shaper would say: `room` is filled while there are some.
  std::size_t take(std::span<rte_mbuf*> room, Time now);

  void discard();  // frees everything; for the end of the process

  std::uint32_t depth() const { return tail_ - head_; }
  std::uint32_t limit() const { return limit_; }
  const QueueCounters& counters() const { return counters_; }
  const SojournHistogram& sojourn() const { return sojourn_; }

 private:
  struct Burst {  // came at `time`; its last packet stands before `end`
    std::uint32_t end;
    Time time;
  };
  void note_sojourn(Time now);

  std::vector<rte_mbuf*> ring_;  // a power of two; head and tail run on
  std::vector<Burst> bursts_;    // the same: there are at most as many as packets
  std::uint32_t head_ = 0, tail_ = 0, first_burst_ = 0, last_burst_ = 0, counted_ = 0;
  std::uint32_t mask_, limit_;
  QueueCounters counters_;
  SojournHistogram sojourn_;
};

}  // namespace surety
