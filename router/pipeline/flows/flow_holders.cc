// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/flows/flow_holders.h"

#include <algorithm>

namespace surety {

FlowHolders::Candidates FlowHolders::sample(Customer newcomer, Rng& rng) const {
  const std::size_t lines = (customers_.size() + kLine - 1) / kLine;
  const std::size_t looked = std::min(lines, kLines);
  if (looked == 0) return {};
  std::array<std::size_t, kLines> at;
  for (std::size_t i = 0, start = rng.next() % lines; i < looked; ++i) {
    at[i] = (start + i * lines / looked) % lines * kLine;
    __builtin_prefetch(&customers_[at[i]]);
  }
  Candidates found;
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < looked; ++i)
    for (std::size_t id = at[i], end = std::min(id + kLine, customers_.size()); id < end; ++id) {
      const Customer holder = customers_[id];
      if (holder == newcomer) found.own.add(static_cast<FlowId>(id));
      if (holder == kNobody || !shares_.yields(holder, newcomer)) continue;
      found.any.add(static_cast<FlowId>(id));
      const std::uint64_t size = std::uint64_t{shares_.held(port_of(holder))} << 32 | shares_.of(holder);
      if (size < most) continue;
      if (size > most) found.largest.clear();
      most = size;
      found.largest.add(static_cast<FlowId>(id));
    }
  return found;
}

}  // namespace surety
