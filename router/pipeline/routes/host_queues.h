// SPDX-License-Identifier: BSD-3-Clause
// The interfaces of hosts that are known by their addresses on a link: whose queues their packets use.
#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "config/address.h"
#include "config/config.h"
#include "router/pipeline/interfaces/interfaces.h"
#include "router/pipeline/routes/prefix_table.h"

namespace surety {

class HostQueues {
 public:
  using Host = std::pair<Prefix, InterfaceIndex>;

  HostQueues() = default;
  // The prefixes do not overlap (config/validate_interfaces.cc).
  HostQueues(const config::Config& config, const Interfaces& interfaces) {
    for (std::size_t d = 0; d < config.interfaces.size(); ++d)
      for (const Prefix& p : config.interfaces[d].prefixes)
        if (is_forwardable(p)) hosts_.emplace_back(p, interfaces.of_definition(d));
    std::ranges::sort(hosts_);
  }

  std::span<const Host> all() const { return hosts_; }
  // The hosts that a prefix, or an address, is one of.
  std::optional<InterfaceIndex> of(const Prefix& p) const {
    const auto behind = std::ranges::upper_bound(hosts_, p.address, {}, first_address);
    if (behind == hosts_.begin()) return {};
    const auto& [prefix, interface] = *std::prev(behind);
    const bool within = prefix.length <= p.length && prefix.contains(p.address);
    return within ? std::optional(interface) : std::nullopt;
  }
  std::optional<InterfaceIndex> of(const IpAddress& address) const { return of(host_prefix(address)); }
  // Hosts with longer prefixes within this one.
  std::span<const Host> within(const Prefix& p) const {
    if (hosts_.empty()) return {};
    const auto from = std::ranges::lower_bound(hosts_, p.address, {}, first_address);
    const auto to = std::ranges::upper_bound(from, hosts_.end(), last_address(p), {}, first_address);
    // A longer or equal prefix that contains this one is the only one from here.
    if (to - from == 1 && from->first.length <= p.length) return {};
    return {from, to};
  }

 private:
  static const IpAddress& first_address(const Host& h) { return h.first.address; }

  std::vector<Host> hosts_;  // sorted
};

}  // namespace surety
