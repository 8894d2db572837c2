// SPDX-License-Identifier: BSD-3-Clause
// The latency part of `surety bench`: the latency that the path `everything` adds to evenly spaced packets,
// at fractions of the greatest rate, beside a loop that only forwards, and the time between two turns of the
// worker.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "router/daemon/bench/bench_router.h"

namespace surety {

// Histogram of durations in cycles: to 1.6 % of each, in 15 kB, so that counting does not disturb the
// measurement.
class BenchHistogram {
 public:
  void add(std::uint64_t cycles) {
    ++counts_[place(cycles)];
    ++count_;
    longest_ = std::max(longest_, cycles);
  }
  std::uint64_t count() const { return count_; }
  std::uint64_t longest() const { return longest_; }
  // The least upper bound of a bucket such that a share of `q` (0..1) of all took no longer; 0 of nothing.
  std::uint64_t quantile(double q) const {
    const auto rank = static_cast<std::uint64_t>(q * static_cast<double>(count_));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i)
      if ((seen += counts_[i]) > rank || (seen == count_ && seen > 0)) return std::min(bound(i), longest_);
    return 0;
  }
  // The number of durations above `cycles`, to the precision of a bucket.
  std::uint64_t above(std::uint64_t cycles) const {
    std::uint64_t n = 0;
    for (std::size_t i = place(cycles) + 1; i < counts_.size(); ++i) n += counts_[i];
    return n;
  }

 private:
  static constexpr unsigned kBits = 6;  // 64 buckets for each power of two
  static constexpr std::uint64_t kLinear = 1u << kBits;
  static constexpr std::size_t kBuckets = (36 - kBits) << kBits;  // up to 2^35 cycles

  static std::size_t place(std::uint64_t v) {
    if (v < kLinear) return v;
    const auto shift = static_cast<unsigned>(std::bit_width(v)) - kBits - 1;
    return std::min<std::size_t>((std::size_t{shift} << kBits) + (v >> shift), kBuckets - 1);
  }
  // The largest value of a bucket.
  static std::uint64_t bound(std::size_t i) {
    if (i < 2 * kLinear) return i;
    const std::size_t shift = (i >> kBits) - 1;
    return (((i & (kLinear - 1)) + kLinear + 1) << shift) - 1;
  }

  std::array<std::uint64_t, kBuckets> counts_{};
  std::uint64_t count_ = 0, longest_ = 0;
};

struct LatencyAtLoad {
  double load = 0;                // fraction of the greatest rate
  double packets_per_second = 0;  // offered
  BenchHistogram added{};         // cycles from a packet's arrival to its transmission
  BenchHistogram turns{};         // cycles from turn to turn meanwhile
  // Latency of the same packets through a loop that only receives and transmits: the share of the machine and
  // the feed.
  BenchHistogram forwarded{};
};

struct BenchLatency {
  std::uint64_t flows = 0;
  std::vector<LatencyAtLoad> loads;
  BenchHistogram flood_turns;   // turn to turn, each packet of a new flow, at the greatest rate
  BenchHistogram reload_turns;  // turn to turn at the last load, during continuous reloads
  BenchHistogram
      machine;  // cycles per round of a loop that only reads the clock: interruptions by the machine
  // Cycles per round of a loop that writes to memory at random, as much of it as the flows' records take:
  // interrupts take longer where the caches hold something else.
  BenchHistogram machine_walking;
};

// Each of the measurements takes `seconds`: two for each load, and four.
BenchLatency measure_latency(BenchBed& bed, std::uint32_t flows, std::span<const double> loads,
                             double seconds);

}  // namespace surety
