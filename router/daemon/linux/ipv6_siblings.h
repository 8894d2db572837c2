// SPDX-License-Identifier: BSD-3-Clause
// IPv6 multipath routes, whose next hops the kernel adds together but removes one at a time.
//
// When one of several next hops is removed, rtnetlink announces the removal of a route with that next hop
// alone, and nothing about the others. This class stores the next hops of such routes and turns that removal
// into the route with the rest.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "config/address.h"
#include "router/pipeline/routes/route_events.h"

namespace surety {

class Ipv6Siblings {
 public:
  // Replaces the removal of some next hops of a known multipath route by an addition with the others;
  // anything else stays.
  void correct(RouteEvent& event);
  // True for an addition that replaces a route beside a known multipath route, or, if there is no other, that
  // one: only a report of all routes shows which (fib6_add_rt2node()). Such a report leaves out the routes
  // between the next hops of a multipath route.
  bool is_ambiguous(const RouteEvent& event) const;
  // True if a multipath route has ended since the last call: routes may be left that were between its next
  // hops when all routes were reported.
  bool take_ended() { return std::exchange(ended_, false); }
  void clear() { routes_.clear(); }

 private:
  using Key = std::pair<Prefix, std::uint32_t>;  // with the metric
  void end(const Key& key) { ended_ |= routes_.erase(key) > 0; }
  std::map<Key, std::vector<RouteNextHop>> routes_;  // only those with several next hops
  bool ended_ = false;
};

}  // namespace surety
