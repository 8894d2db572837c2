// SPDX-License-Identifier: BSD-3-Clause
// How fast the time stamp counter runs.
//
// rte_get_tsc_hz() is rounded to 10 MHz where the CPU does not tell (most virtual machines): up to 0.25 %
// off, and with it every rate that is promised, every round-trip time, every age. So the counter is measured
// against the kernel's clock, from the start of the program to the first question.
#pragma once

#include <cstdint>

namespace surety {

// The counter and the kernel's clock (CLOCK_MONOTONIC_RAW, which nobody slews) at one
// moment, within `uncertain` ns.
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
