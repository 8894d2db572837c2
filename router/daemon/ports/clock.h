// SPDX-License-Identifier: BSD-3-Clause
// Time for the data plane, from the time stamp counter: the only place where it is read for the router.
//
// Guarantees: monotonic per core, starts at 0 when made, 1 ns resolution; the conversion's error is below
// 10^-9 of the time passed, the frequency's is that of tsc_frequency().
#pragma once

#include <rte_cycles.h>

#include <cstdint>

#include "conditioners/units.h"

namespace surety {

// The frequency of the time stamp counter.
//
// rte_get_tsc_hz() is rounded to 10 MHz where the CPU does not report it (most virtual machines): up to 0.25
// % off, as would be every rate, round-trip time and age. The counter is therefore measured against the
// kernel's clock, from the start of the program to the first call.

// The counter and the kernel's clock (CLOCK_MONOTONIC_RAW, which is not slewed) at one moment, within
// `uncertain` ns.
struct TscReading {
  std::uint64_t tsc;
  std::int64_t ns;
  std::int64_t uncertain;
};
TscReading read_tsc();

// Ticks per second, within about 2 parts per million; the same at each call. After rte_eal_init(). The first
// call may take 50 ms.
double tsc_hz();

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
