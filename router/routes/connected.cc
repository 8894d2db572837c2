// SPDX-License-Identifier: BSD-3-Clause
#include "router/routes/connected.h"

#include <tuple>

namespace surety {
namespace {

using Kind = ConnectedRoute::Kind;

void put(ConnectedRoutes& routes, const Prefix& prefix, const ConnectedRoute& route) {
  const auto [it, added] = routes.try_emplace(prefix, route);
  if (!added && std::tie(route.kind, route.interface) < std::tie(it->second.kind, it->second.interface))
    it->second = route;
}

void put_subnet(ConnectedRoutes& routes, const Prefix& address, InterfaceIndex interface) {
  const Prefix subnet = address.masked();
  put(routes, subnet, {Kind::subnet, interface});
  if (address.length >= address.address.bits() - 1) return;
  const Kind ends = address.address.is_v6() ? Kind::local : Kind::blackhole;
  put(routes, host_prefix(subnet.address), {ends});
  if (!address.address.is_v6()) put(routes, host_prefix(last_address(subnet)), {ends});
}

}  // namespace

ConnectedRoutes connected_routes(const std::vector<OwnAddress>& addresses) {
  ConnectedRoutes routes;
  for (const auto& own : addresses) {
    if (!is_forwardable(host_prefix(own.address.address))) continue;
    put(routes, host_prefix(own.address.address), {Kind::local});
    if (own.interface && !is_host(own.address)) put_subnet(routes, own.address, *own.interface);
  }
  return routes;
}

std::optional<InterfaceIndex> connected_interface(const ConnectedRoutes& routes, const IpAddress& address) {
  for (int length = address.bits(); length >= 0; --length) {
    const auto it = routes.find(Prefix{address, static_cast<std::uint8_t>(length)}.masked());
    if (it != routes.end() && it->second.kind == Kind::subnet) return it->second.interface;
  }
  return {};
}

}  // namespace surety
