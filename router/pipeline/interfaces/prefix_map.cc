// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/interfaces/prefix_map.h"

#include <algorithm>

namespace surety {

PrefixMap::PrefixMap(std::vector<std::pair<Prefix, std::uint32_t>> prefixes, std::uint32_t rest)
    : rest_(rest) {
  std::sort(prefixes.begin(), prefixes.end());
  entries_.reserve(prefixes.size());
  for (const auto& [prefix, value] : prefixes) {
    const auto before = static_cast<std::uint32_t>(entries_.size());
    entries_.push_back({prefix, value, innermost(prefix.address, before)});
  }
}

std::uint32_t PrefixMap::first_after(const IpAddress& a) const {
  const auto after =
      std::upper_bound(entries_.begin(), entries_.end(), a,
                       [](const IpAddress& x, const Entry& e) { return x < e.prefix.address; });
  return static_cast<std::uint32_t>(after - entries_.begin());
}

// Prefixes lie inside one another or apart: so the last that begins before the address has it, or one around
// it.
std::uint32_t PrefixMap::innermost(const IpAddress& a, std::uint32_t last) const {
  while (last != 0 && !entries_[last - 1].prefix.contains(a)) last = entries_[last - 1].around;
  return last;
}

}  // namespace surety
