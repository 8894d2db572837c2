// SPDX-License-Identifier: BSD-3-Clause
// Counts the turns of a worker and their cycles. Each cycle from the construction to the begin of the last
// turn is counted once, as busy or as idle.
#pragma once

#include <atomic>
#include <cstdint>

#include "router/pipeline/counters.h"

namespace surety {

class TurnMeter {
 public:
  explicit TurnMeter(std::uint64_t tsc) : began_(tsc) {}

  // Counts a turn that began at `tsc`; `worked`: it moved packets. The cycles since the previous turn began
  // belong to what that turn turned out to be.
  void count(std::uint64_t tsc, bool worked) {
    ++counters_.turns;
    (worked_ ? counters_.busy_cycles : counters_.idle_cycles) += tsc - last();
    began_.store(tsc, std::memory_order_relaxed);
    worked_ = worked;
  }
  bool worked() const { return worked_; }
  // The begin of the last turn. Thread-safe.
  std::uint64_t last() const { return began_.load(std::memory_order_relaxed); }
  const WorkerCounters& counters() const { return counters_; }

 private:
  WorkerCounters counters_;
  std::atomic<std::uint64_t> began_;
  bool worked_ = false;
};

}  // namespace surety
