// SPDX-License-Identifier: BSD-3-Clause
// The frequency of the time stamp counter.
//
// rte_get_tsc_hz() is rounded to 10 MHz where the CPU does not report it (most virtual machines): up to 0.25
// % off, as would be every rate, round-trip time and age. The counter is therefore measured against the
// kernel's clock, from the start of the program to the first call.
#pragma once

#include <cstdint>

namespace surety {

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

}  // namespace surety
