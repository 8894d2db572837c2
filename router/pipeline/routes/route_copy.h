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
  std::uint32_t special = kNextHopNone;  // a fixed next hop, without hops
};

class RouteCopy {
 public:
  struct Row {
    Prefix prefix{};
    RouteSource source = RouteSource::kernel;
    RouteState state = RouteState::active;
    std::uint32_t metric = 0;
    std::uint32_t way = 0;  // index into ways()
  };

  // Copies this many more places; false: complete.
  bool step(const Routes& routes, std::size_t places);
  const std::vector<Row>& rows() const { return rows_; }
  const std::vector<RouteWay>& ways() const { return ways_; }

 private:
  std::uint32_t way_of(const Routes& routes, HopSets::Id set);

  std::optional<std::size_t> place_ = 0;
  std::vector<Row> rows_;
  std::vector<RouteWay> ways_;
  std::map<HopSets::Id, std::uint32_t> way_of_;
};

}  // namespace surety
