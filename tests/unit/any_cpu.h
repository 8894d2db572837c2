// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sched.h>

#include <cstring>

namespace surety::test {

// EAL pins the main thread, and those it starts, to one CPU: for a thread that is to run beside another.
inline void run_on_any_cpu() {
  cpu_set_t all;
  std::memset(&all, 0xff, sizeof all);
  sched_setaffinity(0, sizeof all, &all);
}

}  // namespace surety::test
