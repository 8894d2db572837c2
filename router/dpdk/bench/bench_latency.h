// SPDX-License-Identifier: BSD-3-Clause
// The latency part of `surety bench`: what the path `everything` adds to packets that come evenly, at a part
// of the greatest rate, and how long the worker is away between two turns.
#pragma once

#include <cstdint>

#include "router/dpdk/bench/bench_histogram.h"
#include "router/dpdk/bench/bench_router.h"

namespace surety {

struct BenchLatency {
  std::uint64_t flows = 0;
  double load = 0;                // of the greatest rate
  double packets_per_second = 0;  // offered
  BenchHistogram added;           // cycles from a packet's coming to its transmission
  BenchHistogram turns;           // cycles from turn to turn meanwhile
  BenchHistogram flood_turns;     // turn to turn, each packet of a new flow, as fast as they can be taken
  BenchHistogram reload_turns;    // turn to turn at the load, while one configuration after the other comes
  BenchHistogram machine;  // per round of a loop that only reads the clock: what the machine takes away
  // Cycles per round of a loop that writes to memory at random, as much of it as the flows' records take:
  // interrupts take longer where the caches hold something else.
  BenchHistogram machine_walking;
};

// Each of the five measurements takes `seconds`.
BenchLatency measure_latency(BenchBed& bed, std::uint32_t flows, double load, double seconds);

}  // namespace surety
