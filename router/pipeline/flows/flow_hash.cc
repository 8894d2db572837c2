// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/flows/flow_hash.h"

#include "conditioners/rng.h"

namespace surety {

FlowHasher::FlowHasher(std::uint64_t seed) {
  Rng rng(seed);
  for (auto& s : s_) {
    const std::uint64_t high = rng.next();
    s = high << 32 | rng.next();
  }
}

}  // namespace surety
