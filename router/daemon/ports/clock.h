// SPDX-License-Identifier: BSD-3-Clause
// Time for the data plane, from the time stamp counter: the only place where it is read for the router.
//
// Guarantees: monotonic per core, starts at 0 when made, 1 ns resolution; the conversion's error is below
// 10^-9 of the time passed, the frequency's is that of tsc_frequency.h.
#pragma once

#include <rte_cycles.h>

#include "conditioners/units.h"
#include "router/daemon/ports/tsc_frequency.h"

namespace surety {

class TscClock {
 public:
  TscClock() : base_(rte_rdtsc()), ns_per_tick_(static_cast<std::uint64_t>(1e9 * 0x1p32 / tsc_hz())) {}
  // State of a clock; another process on this machine continues the clock with it.
  struct Origin {
    std::uint64_t base, ns_per_tick;
  };
  explicit TscClock(const Origin& o) : base_(o.base), ns_per_tick_(o.ns_per_tick) {}
  Origin origin() const { return {base_, ns_per_tick_}; }
  Time now() const { return at(rte_rdtsc()); }
  Time at(std::uint64_t tsc) const {
    return Time(Duration(
        static_cast<std::int64_t>((static_cast<unsigned __int128>(tsc - base_) * ns_per_tick_) >> 32)));
  }

 private:
  std::uint64_t base_;
  std::uint64_t ns_per_tick_;  // 32.32 fixed point
};

}  // namespace surety
