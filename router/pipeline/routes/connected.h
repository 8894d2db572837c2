// SPDX-License-Identifier: BSD-3-Clause
// Routes that follow from a router's own addresses.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "router/pipeline/interfaces/interface_record.h"
#include "router/pipeline/routes/prefixes.h"

namespace surety {

// An own address and its interface. nullopt: a device that the router does not forward through (e.g. the
// loopback).
struct OwnAddress {
  Prefix address;  // with host bits
  std::optional<InterfaceIndex> interface;
  friend bool operator==(const OwnAddress&, const OwnAddress&) = default;
};

struct ConnectedRoute {
  // Kinds in order of preference, if several addresses give the same prefix.
  enum class Kind : std::uint8_t {
    local,  // an own address, or the subnet-router anycast address of an IPv6 subnet (RFC 4291, 2.6.1; except
            // a /127, RFC 6164)
    blackhole,  // first and last address of an IPv4 subnet up to /30: directed broadcasts are not forwarded
                // (RFC 2644)
    subnet,     // hosts on the interface's link
  };
  Kind kind = Kind::subnet;
  InterfaceIndex interface = 0;  // set for a subnet
  friend auto operator<=>(const ConnectedRoute&, const ConnectedRoute&) = default;
};
using ConnectedRoutes = std::vector<std::pair<Prefix, ConnectedRoute>>;  // sorted by prefix, one of each

// If a subnet is on several interfaces, the lowest gets the route. Link-local addresses give no routes.
ConnectedRoutes connected_routes(const std::vector<OwnAddress>& addresses);

// The interface of the longest subnet that contains an address.
std::optional<InterfaceIndex> connected_interface(const ConnectedRoutes& routes, const IpAddress& address);

}  // namespace surety
