// SPDX-License-Identifier: BSD-3-Clause
// The cores that this process may run on.
#pragma once

#include <sched.h>

#include <vector>

namespace surety {

// Sorted by number; core 0 if the kernel reports none.
inline std::vector<unsigned> usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<unsigned> cores;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return {0};
  for (unsigned c = 0; c < CPU_SETSIZE; ++c)
    if (CPU_ISSET(c, &set)) cores.push_back(c);
  return cores;
}

}  // namespace surety
