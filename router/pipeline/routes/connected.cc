// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/connected.h"

#include <algorithm>

namespace surety {
namespace {

using Kind = ConnectedRoute::Kind;

void add_subnet(ConnectedRoutes& routes, const Prefix& address, InterfaceIndex interface) {
  const Prefix subnet = address.masked();
  routes.push_back({subnet, {Kind::subnet, interface}});
  if (address.length >= address.address.bits() - 1) return;
  const Kind ends = address.address.is_v6() ? Kind::local : Kind::blackhole;
  routes.push_back({host_prefix(subnet.address), {ends}});
  if (!address.address.is_v6()) routes.push_back({host_prefix(last_address(subnet)), {ends}});
}

}  // namespace

ConnectedRoutes connected_routes(const std::vector<OwnAddress>& addresses) {
  ConnectedRoutes routes;
  for (const auto& own : addresses) {
    if (!is_forwardable(host_prefix(own.address.address))) continue;
    routes.push_back({host_prefix(own.address.address), {Kind::local}});
    if (own.interface && !is_host(own.address)) add_subnet(routes, own.address, *own.interface);
  }
  std::ranges::sort(routes);  // for the same prefix the preferred one comes first
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  routes.erase(std::unique(routes.begin(), routes.end(), same), routes.end());
  return routes;
}

std::optional<InterfaceIndex> connected_interface(const ConnectedRoutes& routes, const IpAddress& address) {
  for (int length = address.bits(); length >= 0; --length) {
    const Prefix prefix = Prefix{address, static_cast<std::uint8_t>(length)}.masked();
    const auto it = std::ranges::lower_bound(routes, prefix, {}, &ConnectedRoutes::value_type::first);
    if (it != routes.end() && it->first == prefix && it->second.kind == Kind::subnet)
      return it->second.interface;
  }
  return {};
}

}  // namespace surety
