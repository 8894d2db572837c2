// SPDX-License-Identifier: BSD-3-Clause
// The routing table of `surety bench`: the routes of an edge, and those of the Internet.
//
// The table is the same on every run. The edge's routes are 65,536 of /24 or /48, outside of all others. The
// core's have the lengths of the Internet's tables (shares of the CIDR report's counts of 2024, rounded),
// each its own part of the unicast space, in random order of length, as on the Internet.
#pragma once

#include <cstdint>
#include <vector>

#include "config/config.h"

namespace surety {

inline constexpr std::uint32_t kEdgeRoutes = 65536;  // per family
inline constexpr std::uint32_t kCoreRoutes4 = 1'000'000, kCoreRoutes6 = 200'000;

std::vector<Prefix> edge_routes(bool v6);
std::vector<Prefix> core_routes(bool v6);

}  // namespace surety
