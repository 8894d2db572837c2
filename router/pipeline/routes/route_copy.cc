// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/route_copy.h"

namespace surety {

bool RouteCopy::step(const Routes& routes, std::size_t places) {
  if (!place_) return false;
  place_ =
      routes.rib().look(*place_, places, [&](const Prefix& prefix, const auto& candidate, RouteState state) {
        rows_.push_back({prefix, candidate.source, state, candidate.metric, way_of(routes, candidate.set)});
      });
  return place_.has_value();
}

std::uint32_t RouteCopy::way_of(const Routes& routes, HopSets::Id set) {
  const auto [at, fresh] = way_of_.try_emplace(set, static_cast<std::uint32_t>(ways_.size()));
  if (!fresh) return at->second;
  RouteWay& way = ways_.emplace_back();
  const HopSets& sets = routes.rib().sets();
  way.special = sets.special(set);
  // A member occurs as often as its weight.
  for (const NextHopMember& m : sets.members(set)) {
    if (!way.hops.empty() && way.hops.back().member == m) {
      ++way.hops.back().weight;
      continue;
    }
    way.hops.push_back({m, 1, !m.gateway || routes.knows(m.interface, *m.gateway)});
  }
  return at->second;
}

}  // namespace surety
