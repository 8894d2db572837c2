// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/ipv6_siblings.h"

#include <algorithm>

namespace surety {
namespace {

bool same(const RouteNextHop& a, const RouteNextHop& b) {
  return a.ifindex == b.ifindex && a.via == b.via;
}

// True if the route may join a multipath route (rt6_qualify_for_ecmp()).
bool joins(const RouteEvent& event) {
  return event.next_hop_id == 0 && !event.next_hops.empty() && event.next_hops[0].via;
}

}  // namespace

bool Ipv6Siblings::is_ambiguous(const RouteEvent& event) const {
  return event.action == EventAction::add && event.order == RouteOrder::replace && event.selector == 0 &&
         !event.local_table && !joins(event) && routes_.contains({event.to, event.metric});
}

void Ipv6Siblings::correct(RouteEvent& event) {
  // Routes with a source prefix, and of the table local, have no siblings among those of the table main.
  if (!event.to.address.is_v6() || event.selector != 0 || event.local_table) return;
  const Key key{event.to, event.metric};
  if (event.action == EventAction::add) {
    if (event.next_hops.size() > 1)
      routes_[key] = event.next_hops;
    else if (joins(event) || event.order == RouteOrder::only)
      end(key);
    return;
  }
  const auto known = routes_.find(key);
  if (known == routes_.end()) return;
  std::vector<RouteNextHop> rest = known->second;
  std::erase_if(rest, [&](const RouteNextHop& hop) {
    return std::ranges::any_of(event.next_hops, [&](const RouteNextHop& gone) { return same(gone, hop); });
  });
  // A route without a gateway is beside the multipath route, with the same metric.
  const bool other = std::ranges::any_of(event.next_hops, [](const RouteNextHop& hop) { return !hop.via; });
  if (other && rest.size() == known->second.size()) return;
  if (rest.size() > 1) {
    known->second = rest;
  } else {
    end(key);
  }
  if (rest.empty() || event.next_hops.empty()) return;
  event.action = EventAction::add;
  event.order = RouteOrder::last;
  event.next_hops = std::move(rest);
}

}  // namespace surety
