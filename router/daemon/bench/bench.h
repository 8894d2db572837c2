// SPDX-License-Identifier: BSD-3-Clause
// `surety bench`: measures the cost of a packet on the product's own objects (tests/bench/README.md).
//
// One core, 64-byte packets from a table feed through net_null ports. Paths: `feed` (feed and transmit
// alone), `anchor` (longest prefix match and rewrite as in DPDK's l3fwd; the reference of all ratios),
// `forward`, `csa` (+ flow lookup, enhanced token bucket, DSCP), `everything` (+ ARD, RIO, scheduler, shaper,
// all counters), and `core`: no flows, DSCP classes, RIO, scheduler and shaper, a million routes of the
// lengths of the Internet's; there, `flows` is the number of destinations. With interfaces: `access-up`,
// `access-down`, and `flat`, `below`, `below-hosts`, `flat-one`, `below-one`, whose packets leave by the
// port's own queues or by those below it (bench_router.h). `everything` with bad input: bench_paths.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace surety {

struct BenchOptions {
  std::vector<std::uint64_t> flows{1000, 65536, 1'000'000, 4'000'000};
  std::vector<std::string> paths{"feed",        "anchor",    "forward",     "csa",  "everything",
                                 "core",        "access-up", "access-down", "flat", "below",
                                 "below-hosts", "flat-one",  "below-one"};
  std::vector<int> families{4, 6};
  int repetitions = 9;
  bool worst = false;  // instead of those paths: `everything` with its most expensive inputs
  int core = -1;       // the last one this process may use
  bool json = false;
  // The bench waits for a line on standard input before each repetition, and answers with a line of JSON: the
  // cycles per packet of each path ("core", "core, IPv6"), for the first number of flows. For a driver that
  // measures other programs in between (tests/bench/peers.py).
  bool step = false;
  // Egress ports of the `paths` without interfaces, each route by one of them.
  std::size_t exits = 1;
  bool workers = false;  // measures only the gain from a second worker
  bool latency = false;  // measures only the added latency at `loads` of the greatest rate, and pauses
  std::vector<double> loads{0.1, 0.5, 0.8};
};

// Exit status: 0, or 1 when it could not start. Prints a row per path, number of flows and family:
// median, minimum and maximum cycles per packet, Mpps, the ratio to the anchor of the same run (to
// `everything` where that was not measured), and the cycles of each stage.
int bench(BenchOptions options);

}  // namespace surety
