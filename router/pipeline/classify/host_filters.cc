// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/classify/host_filters.h"

#include <utility>
#include <vector>

namespace surety {

HostFilters::HostFilters(const config::Config& config, const Interfaces& interfaces)
    : interfaces_(&interfaces) {
  std::unordered_map<InterfaceIndex, std::vector<std::pair<Prefix, std::uint32_t>>> filters;
  for (std::size_t d = 0; d < config.interfaces.size(); ++d) {
    const InterfaceRecord& host = interfaces[interfaces.of_definition(d)];
    if (host.within == kNoInterface || host.filter_in == kNoFilter) continue;
    for (const Prefix& p : config.interfaces[d].prefixes)
      filters[host.within].emplace_back(p.masked(), host.filter_in);
  }
  for (auto& [link, of_hosts] : filters)
    links_.emplace(link, PrefixMap(std::move(of_hosts), interfaces[link].filter_in));
}

}  // namespace surety
