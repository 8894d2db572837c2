// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/simulation/host_routes.h"

#include <fmt/format.h>

#include "router/pipeline/routes/neighbors.h"
#include "router/pipeline/routes/paths.h"
#include "tests/lab/simulation/scenario_error.h"

namespace surety::lab {

HostRoutes::HostRoutes() : fib_("lab", kMaxAddresses) {}

std::vector<std::uint32_t> HostRoutes::ids(std::span<const IpAddress> addresses) {
  const std::scoped_lock lock(mutex_);
  std::vector<std::uint32_t> out;
  for (const auto& a : addresses) {
    const auto [place, added] = ids_.try_emplace(a, static_cast<std::uint32_t>(kNextHopsFixed + ids_.size()));
    const Prefix host{a, a.bits()};
    if (added && !fib_.add(host, target_of(host, {place->second, 1}).encode())) {
      ids_.erase(place);
      throw ScenarioError(
          fmt::format("no room for the address {}: hosts in fewer subnets take less", to_string(a)));
    }
    out.push_back(place->second);
  }
  return out;
}

HostRoutes& host_routes() {
  static auto* const routes = new HostRoutes;  // never freed: DPDK ends before statics do
  return *routes;
}

}  // namespace surety::lab
