// SPDX-License-Identifier: BSD-3-Clause
// Routes and neighbours as rows of the tables `routes` and `neighbors` (rows: reading_json.h).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "router/operate/observe/reading_json.h"
#include "router/pipeline/routes/route_copy.h"

namespace surety {

using InterfaceName = std::function<std::string(InterfaceIndex)>;

// Sorted by prefix, IPv4 first; the best route of a prefix first.
Json route_rows(const RouteCopy& copy, const InterfaceName& name_of);

struct NeighborRow {
  enum class State : std::uint8_t { known, asked, unreachable };
  IpAddress address{};
  InterfaceIndex interface = 0;
  std::optional<MacAddress> mac{};
  std::optional<Routes::NeighborSource> source{};
  State state = State::known;
  std::optional<Duration> age{};  // since the last answer or request; nullopt: never requested
};
// Sorted by address, IPv4 first.
Json neighbor_rows(std::vector<NeighborRow> rows, const InterfaceName& name_of);

}  // namespace surety
