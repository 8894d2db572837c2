// SPDX-License-Identifier: BSD-3-Clause
// What a path is: where packets go, not whom they are handed to.
//
// A path is the prefix of the route that an address takes; where that is wide, the part of it that no network
// tells apart in its routes: a /24, or a /48 of IPv6 (what the Internet's routing table has of the
// narrowest). So a packet's path follows from its destination and from how narrow its route is, which the FIB
// says along with the next hop: `narrowness`, 0 for a route as wide as that or wider, else how many bits it
// is narrower.
#pragma once

#include "config/address.h"
#include "router/routes/route_events.h"

namespace surety {

using Path = Prefix;

inline constexpr std::uint8_t kWidePath4 = 24, kWidePath6 = 48;

// The target of a route, as the FIB is to have it.
inline RouteTarget target_of(const Prefix& route, RouteTarget target) {
  const std::uint8_t wide = route.address.is_v6() ? kWidePath6 : kWidePath4;
  target.narrowness = route.length > wide ? static_cast<std::uint8_t>(route.length - wide) : std::uint8_t{0};
  return target;
}

// Of an address whose route is so narrow.
inline Path path_of(const IpAddress& destination, std::uint8_t narrowness) {
  const std::uint8_t wide = destination.is_v6() ? kWidePath6 : kWidePath4;
  return Path{destination, static_cast<std::uint8_t>(wide + narrowness)}.masked();
}

}  // namespace surety
