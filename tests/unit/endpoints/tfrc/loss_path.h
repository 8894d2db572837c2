// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <span>
#include <vector>

#include "endpoints/tfrc/loss_intervals.h"

namespace surety::endpoints::test {

// A path with a fixed number of packets per quarter of a round-trip time, and the receiver at its end.
struct LossPath {
  LossIntervals history;
  std::uint64_t next = 1000;
  std::uint64_t per_tick = 10;

  std::uint8_t counter(std::uint64_t sequence) const { return sequence / per_tick % 16; }
  LossIntervals::Arrival arrive(std::uint64_t sequence, bool marked = false) {
    return history.on_packet(sequence, counter(sequence), marked);
  }
  LossIntervals::Arrival mark() { return arrive(next++, true); }
  void send(std::uint64_t packets) {
    for (; packets > 0; --packets) {
      const auto a = arrive(next++);
      EXPECT_FALSE(a.duplicate);
    }
  }
  void lose(std::uint64_t packets) { next += packets; }
  std::vector<std::vector<std::uint64_t>> intervals() const {
    std::array<LossIntervals::Interval, LossIntervals::kIntervals + 1> out;
    std::vector<std::vector<std::uint64_t>> all;
    for (const LossIntervals::Interval& i : std::span(out).first(history.intervals(out))) {
      all.push_back({i.lossless, i.loss});
    }
    return all;
  }
};
using Intervals = std::vector<std::vector<std::uint64_t>>;

}  // namespace surety::endpoints::test
