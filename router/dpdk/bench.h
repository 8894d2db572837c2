// `surety bench`: what a packet costs, measured on the product's own objects (PERF.md).
//
// One core, 64-byte packets from a table feed through net_null ports. Paths: `feed` (feed and transmit
// alone), `anchor` (longest prefix match and rewrite as DPDK's l3fwd does them: what ratios are taken
// against), `forward`, `csa` (+ flow lookup, enhanced token bucket, DSCP), `everything` (+ ARD, RIO,
// scheduler, shaper, all counters).
#pragma once

#include <string>
#include <vector>

namespace surety {

struct BenchOptions {
  std::vector<std::uint64_t> flows{1000, 65536, 1'000'000};
  std::vector<std::string> paths{"feed", "anchor", "forward", "csa", "everything"};
  std::vector<int> families{4, 6};
  int repetitions = 9;
  int core = -1;  // the last one this process may use
  bool json = false;
};

// Exit status: 0, or 1 when it could not start. Prints a row per path, number of flows and family: median,
// minimum and maximum cycles per packet, Mpps, the ratio to the anchor of the same run, and the cycles of
// each stage.
int bench(const BenchOptions& options);

}  // namespace surety
