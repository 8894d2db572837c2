// SPDX-License-Identifier: BSD-3-Clause
// The two reference loops of `surety bench`.
#pragma once

#include "router/daemon/bench/bench_router.h"

namespace surety {

// Feed and transmit alone. Returns packets moved in one turn.
std::size_t feed_turn(const BenchBed& bed);
// The work of DPDK's l3fwd: longest prefix match, TTL, MAC addresses.
std::size_t anchor_turn(const BenchBed& bed, bool v6);

}  // namespace surety
