// SPDX-License-Identifier: BSD-3-Clause
// Copies all routes for display, a little at a time, on the thread that owns Routes: a million routes delay
// nothing.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "router/pipeline/routes/routes.h"

namespace surety {

// The destination of routes: many share one.
struct RouteWay {
  struct Hop {
    NextHopMember member{};
    unsigned weight = 1;
    bool known = true;  // without a gateway, or with its MAC address known
  };
  std::vector<Hop> hops{};
  std::uint32_t special = kNextHopNone;         // a fixed next hop, without hops
  Unsupported unsupported = Unsupported::none;  // reason of kNextHopUnsupported
  std::uint16_t mtu = 0;                        // the route's own
};

class RouteCopy {
 public:
  struct Row {
    Prefix prefix{};
    RouteSource source = RouteSource::kernel;
    bool connected = false;  // a route of the kernel for one of its addresses
    RouteState state = RouteState::active;
    std::uint32_t metric = 0;
    std::uint32_t way = 0;  // index into ways()
  };

  // Copies this many more places; false: complete.
  bool step(const Routes& routes, std::size_t places) {
    if (!place_) return false;
    const auto copy = [&](const Prefix& prefix, const auto& candidate, RouteState state) {
      rows_.push_back({prefix, candidate.source, candidate.connected(), state, candidate.metric,
                       way_of(routes, candidate.set)});
    };
    place_ = routes.rib().look(*place_, places, copy);
    return place_.has_value();
  }
  const std::vector<Row>& rows() const { return rows_; }
  const std::vector<RouteWay>& ways() const { return ways_; }

 private:
  std::uint32_t way_of(const Routes& routes, HopSets::Id set) {
    const auto [at, fresh] = way_of_.try_emplace(set, static_cast<std::uint32_t>(ways_.size()));
    if (!fresh) return at->second;
    RouteWay& way = ways_.emplace_back();
    const HopSets& sets = routes.rib().sets();
    way.special = sets.special(set);
    way.unsupported = sets.unsupported(set);
    way.mtu = sets.key(set).mtu;
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

  std::optional<std::size_t> place_ = 0;
  std::vector<Row> rows_;
  std::vector<RouteWay> ways_;
  std::map<HopSets::Id, std::uint32_t> way_of_;
};

}  // namespace surety
