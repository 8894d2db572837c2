// SPDX-License-Identifier: BSD-3-Clause
// The interfaces of hosts that are known by their addresses on a link: whose queues a neighbour's packets
// use.
#pragma once

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "config/address.h"
#include "config/config.h"
#include "router/pipeline/interfaces/interfaces.h"

namespace surety {

class HostQueues {
 public:
  // The prefixes do not overlap (config/validate_interfaces.cc).
  void configure(const config::Config& config, const Interfaces& interfaces) {
    hosts_.clear();
    for (std::size_t d = 0; d < config.interfaces.size(); ++d)
      for (const Prefix& p : config.interfaces[d].prefixes)
        hosts_.emplace_back(p, interfaces.of_definition(d));
    std::ranges::sort(hosts_);
  }

  // The interface with the queues of a neighbour on a link; the link itself for all others.
  InterfaceIndex of(const IpAddress& neighbor, InterfaceIndex link, const Interfaces& interfaces) const {
    const auto behind =
        std::ranges::upper_bound(hosts_, neighbor, {}, [](const auto& h) { return h.first.address; });
    if (behind == hosts_.begin()) return link;
    const auto& [prefix, interface] = *std::prev(behind);
    return prefix.contains(neighbor) && interfaces[interface].within == link ? interface : link;
  }

 private:
  std::vector<std::pair<Prefix, InterfaceIndex>> hosts_;  // sorted
};

}  // namespace surety
