// SPDX-License-Identifier: BSD-3-Clause
// Prefetches a cache line that will be written soon.
//
// Functions that do nothing else must be SURETY_PREFETCHES: GCC 12 takes those that it does not inline for
// pure functions with an unused result, and removes the call.
#pragma once

#define SURETY_PREFETCHES [[gnu::always_inline]] inline

namespace surety {

SURETY_PREFETCHES void prefetch_line(const void* address) {
  __builtin_prefetch(address, 1);
}

}  // namespace surety
