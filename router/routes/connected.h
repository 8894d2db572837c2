// SPDX-License-Identifier: BSD-3-Clause
// What a router's own addresses mean for its routes.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "router/interfaces/interface_record.h"
#include "router/routes/prefixes.h"

namespace surety {

// An address and where it is. None: a device that is not ours to forward through (the loopback, say).
struct OwnAddress {
  Prefix address;  // with host bits
  std::optional<InterfaceIndex> interface;
  friend bool operator==(const OwnAddress&, const OwnAddress&) = default;
};

struct ConnectedRoute {
  // In order of preference, where several addresses give the same prefix.
  enum class Kind : std::uint8_t {
    local,  // an own address, or the subnet-router anycast address of an IPv6 subnet (RFC 4291, 2.6.1; not of
            // a /127, RFC 6164)
    blackhole,  // first and last address of an IPv4 subnet up to /30: directed broadcasts are not forwarded
                // (RFC 2644)
    subnet,     // hosts on the interface's link
  };
  Kind kind = Kind::subnet;
  InterfaceIndex interface = 0;  // of a subnet
  friend auto operator<=>(const ConnectedRoute&, const ConnectedRoute&) = default;
};
using ConnectedRoutes = std::vector<std::pair<Prefix, ConnectedRoute>>;  // by prefix, one of each

// Where one subnet is on several interfaces, the lowest has it. Link-local addresses give no routes.
ConnectedRoutes connected_routes(const std::vector<OwnAddress>& addresses);

// That of the longest subnet that contains an address.
std::optional<InterfaceIndex> connected_interface(const ConnectedRoutes& routes, const IpAddress& address);

}  // namespace surety
