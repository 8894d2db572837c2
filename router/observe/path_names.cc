// SPDX-License-Identifier: BSD-3-Clause
#include "router/observe/path_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace surety {
namespace {

constexpr std::size_t kRoom = 110;  // telemetry's strings have 127 characters

std::string hop_name(std::uint32_t id, const Routes& routes, const NextHopTable& next_hops,
                     const config::Config& config) {
  if (const auto gateway = routes.gateway(id))
    return fmt::format("via {} {}", to_string(gateway->address), config.ports[gateway->port].name);
  const NextHopEntry entry = next_hops.get(id);
  const bool leads_out = entry.state >= NextHopEntry::State::glean && entry.port < config.ports.size();
  return leads_out ? "on " + config.ports[entry.port].name : "nowhere";
}

// A next hop with a larger weight has several ids.
std::string path_name(std::uint32_t first, std::uint32_t count, const Routes& routes,
                      const NextHopTable& next_hops, const config::Config& config) {
  std::vector<std::string> hops;
  for (std::uint32_t id = first; id < first + count; ++id) {
    std::string hop = hop_name(id, routes, next_hops, config);
    if (std::find(hops.begin(), hops.end(), hop) == hops.end()) hops.push_back(std::move(hop));
  }
  std::string name;
  for (const std::string& hop : hops) {
    if (name.size() + hop.size() > kRoom) return name + ", ...";
    name += (name.empty() ? "" : ", ") + hop;
  }
  return name;
}

}  // namespace

void PathNames::learn(const SignallingReading& signalling, const Routes& routes,
                      const NextHopTable& next_hops, const config::Config& config) {
  names_.clear();
  for (const SignalPathReading& p : signalling.paths) {
    const auto [name, fresh] = names_.try_emplace({p.next_hop, p.next_hops});
    if (fresh) name->second = path_name(p.next_hop, p.next_hops, routes, next_hops, config);
  }
}

void PathNames::apply(SignallingReading& signalling) const {
  for (SignalPathReading& p : signalling.paths) {
    const auto found = names_.find({p.next_hop, p.next_hops});
    p.gateway = found != names_.end() ? found->second : fmt::format("next hop {}", p.next_hop);
  }
}

}  // namespace surety
