// SPDX-License-Identifier: BSD-3-Clause
// The routing table of `surety bench`: what an edge has, and what the Internet has beside it.
//
// The table is the same on every run. The edge's routes are 65,536 of /24 or /48, outside of all others. The
// core's have the lengths of the Internet's tables (shares of the CIDR report's counts of 2024, rounded),
// each its own part of the unicast space, in no order of length, as they stand side by side there.
#pragma once

#include <cstdint>
#include <vector>

#include "config/config.h"

namespace surety {

inline constexpr std::uint32_t kEdgeRoutes = 65536;  // of each family
inline constexpr std::uint32_t kCoreRoutes4 = 1'000'000, kCoreRoutes6 = 200'000;

std::vector<Prefix> edge_routes(bool v6);
std::vector<Prefix> core_routes(bool v6);

}  // namespace surety
