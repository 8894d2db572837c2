// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sched.h>

#include <cstring>

namespace surety::test {

// EAL pins the main thread, and those it starts, to one CPU: for a thread that is to run beside another, on
// any CPU but `main_cpu`, if there is one.
inline void run_beside(int main_cpu) {
  cpu_set_t others;
  std::memset(&others, 0xff, sizeof others);
  CPU_CLR(static_cast<unsigned>(main_cpu), &others);
  sched_setaffinity(0, sizeof others, &others);
}

}  // namespace surety::test
