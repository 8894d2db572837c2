// SPDX-License-Identifier: BSD-3-Clause
// The only value of the map of divert.bpf.c. C, because the program is.
#pragma once

#include <linux/types.h>

struct divert_state {
  __u64 until;    // nanoseconds of CLOCK_MONOTONIC
  __u64 refused;  // frames of the network that the kernel has forwarded
  __u32 tap;      // the interface that frames go to until then
  __u32 unused;
};
