// SPDX-License-Identifier: BSD-3-Clause
// The latency part of `surety bench`: what the path `everything` adds to packets that come evenly, at parts
// of the greatest rate, beside a loop that only forwards, and how long the worker is away between two turns.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "router/dpdk/bench/bench_histogram.h"
#include "router/dpdk/bench/bench_router.h"

namespace surety {

struct LatencyAtLoad {
  double load = 0;                // of the greatest rate
  double packets_per_second = 0;  // offered
  BenchHistogram added{};         // cycles from a packet's coming to its transmission
  BenchHistogram turns{};         // cycles from turn to turn meanwhile
  // As `added`, of the same packets through a loop that receives and transmits and is no router: the
  // machine's part of it, and the feed's.
  BenchHistogram forwarded{};
};

struct BenchLatency {
  std::uint64_t flows = 0;
  std::vector<LatencyAtLoad> loads;
  BenchHistogram flood_turns;  // turn to turn, each packet of a new flow, as fast as they can be taken
  BenchHistogram
      reload_turns;        // turn to turn at the last load, while one configuration after the other comes
  BenchHistogram machine;  // per round of a loop that only reads the clock: what the machine takes away
  // Cycles per round of a loop that writes to memory at random, as much of it as the flows' records take:
  // interrupts take longer where the caches hold something else.
  BenchHistogram machine_walking;
};

// Each of the measurements takes `seconds`: two for each load, and four.
BenchLatency measure_latency(BenchBed& bed, std::uint32_t flows, std::span<const double> loads,
                             double seconds);

}  // namespace surety
