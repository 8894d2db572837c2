// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/simulation/shortest_paths.h"

#include <compare>
#include <optional>

namespace surety::lab {

namespace {

struct Cost {
  Duration delay{};
  std::uint32_t hops = 0;
  friend auto operator<=>(const Cost&, const Cost&) = default;
};

// Bellman and Ford's: a handful of routers, and no heap to get wrong.
std::vector<LineNumber> ways_to(std::size_t to, const std::vector<PlannedLine>& lines, std::size_t routers) {
  std::vector<std::optional<Cost>> cost(routers);
  std::vector<LineNumber> way(routers, kNoLine);
  cost[to] = Cost{};
  for (bool changed = true; changed;) {
    changed = false;
    for (LineNumber n = 0; n < lines.size(); ++n) {
      const PlannedLine& l = lines[n];
      if (!l.from.router || !l.to.router || !cost[l.to.node]) continue;
      const Cost through{cost[l.to.node]->delay + l.parameters->delay, cost[l.to.node]->hops + 1};
      auto& known = cost[l.from.node];
      if (known && *known <= through) continue;
      known = through;
      way[l.from.node] = n;
      changed = true;
    }
  }
  return way;
}

}  // namespace

std::vector<std::vector<LineNumber>> shortest_ways(const std::vector<PlannedLine>& lines,
                                                   std::size_t routers) {
  std::vector<std::vector<LineNumber>> ways(routers, std::vector<LineNumber>(routers, kNoLine));
  for (std::size_t to = 0; to < routers; ++to) {
    const auto way = ways_to(to, lines, routers);
    for (std::size_t from = 0; from < routers; ++from) ways[from][to] = way[from];
  }
  return ways;
}

}  // namespace surety::lab
