// SPDX-License-Identifier: BSD-3-Clause
// The two loops that rows of `surety bench` are held against.
#pragma once

#include "router/dpdk/bench/bench_router.h"

namespace surety {

// Feed and transmit alone. Returns packets moved in one turn.
std::size_t feed_turn(const BenchBed& bed);
// What DPDK's l3fwd does: longest prefix match, TTL, MAC addresses.
std::size_t anchor_turn(const BenchBed& bed, bool v6);

}  // namespace surety
