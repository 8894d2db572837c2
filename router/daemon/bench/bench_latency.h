// SPDX-License-Identifier: BSD-3-Clause
// The latency part of `surety bench`: the latency that the path `everything` adds to evenly spaced packets,
// at fractions of the greatest rate, beside a loop that only forwards, and the time between two turns of the
// worker.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "router/daemon/bench/bench_histogram.h"
#include "router/daemon/bench/bench_router.h"

namespace surety {

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
