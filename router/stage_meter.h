// SPDX-License-Identifier: BSD-3-Clause
// Cycles and packets per stage. The router knows no clock: the driver gives it a counter to
// read, the lab gives none.
#pragma once

#include <cstdint>

#include "router/counters.h"

namespace surety {

class StageMeter {
 public:
  using Counter = std::uint64_t (*)();
  explicit StageMeter(Counter counter = nullptr) : counter_(counter) {}

  void start() {
    if (counter_ != nullptr) last_ = counter_();
  }
  // The stage that ran since the last start() or lap() handled `packets`.
  void lap(Stage stage, std::size_t packets) {
    if (counter_ == nullptr) return;
    const std::uint64_t t = counter_();
    counters_.cycles[static_cast<std::size_t>(stage)] += t - last_;
    counters_.packets[static_cast<std::size_t>(stage)] += packets;
    last_ = t;
  }
  const StageCounters& counters() const { return counters_; }

 private:
  Counter counter_;
  std::uint64_t last_ = 0;
  StageCounters counters_;
};

}  // namespace surety
