// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/kernel_routes.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace surety {

namespace {

constexpr int kChangesPerRound = 256;  // some microseconds each

// True if the next hops of a wanted route are those of a route in the kernel, which adds devices to gateways,
// and changes the order.
bool same_way(const RouteEvent& a, const RouteEvent& b) {
  const auto gateways = [](const RouteEvent& r) {
    std::vector<IpAddress> all;
    for (const auto& hop : r.next_hops)
      if (hop.via) all.push_back(*hop.via);
    std::ranges::sort(all);
    return all;
  };
  const auto device = [](const RouteEvent& r) {
    return r.next_hops.size() == 1 && !r.next_hops[0].via ? r.next_hops[0].ifindex : 0;
  };
  const auto has = [&](const RouteNextHop& hop) {
    return hop.ifindex == 0 || std::ranges::any_of(b.next_hops, [&](const RouteNextHop& other) {
             return other.via == hop.via && other.ifindex == hop.ifindex;
           });
  };
  return a.blackhole == b.blackhole && gateways(a) == gateways(b) && device(a) == device(b) &&
         std::ranges::all_of(a.next_hops, has);
}

}  // namespace

KernelRoutes::KernelRoutes(NetlinkCommands& commands, Refused refused)
    : commands_(commands), refused_(std::move(refused)) {}

KernelRoutes::~KernelRoutes() {
  for (const auto& [to, metric] : given_) {
    try {
      commands_.remove_route(to, metric);
    } catch (const std::runtime_error&) {
      // The kernel has taken it away already, with a device or its address.
    }
  }
}

void KernelRoutes::want(const std::vector<RouteEvent>& routes) {
  std::map<Place, RouteEvent> before = std::exchange(wanted_, {});
  for (const RouteEvent& route : routes) {
    const Place at = place_of(route);
    const auto known = before.find(at);
    const bool same =
        known != before.end() && same_way(route, known->second) && same_way(known->second, route);
    if (known != before.end()) before.erase(known);
    wanted_[at] = route;
    if (same) continue;
    to_settle_.insert(at);
    told_.erase(at);
  }
  for (const auto& [at, route] : before) {
    to_settle_.insert(at);
    told_.erase(at);
  }
}

void KernelRoutes::on(const RouteEvent& event) {
  if (event.protocol != kProtocol) return on_others(event);
  if (event.action == EventAction::add) {
    there_[place_of(event)] = event;
    seen_.insert(place_of(event));
  } else {
    there_.erase(place_of(event));
  }
  to_settle_.insert(place_of(event));
}

// Ours was replaced, or may be added, or is beside another one of its metric (`ip route append`).
void KernelRoutes::on_others(const RouteEvent& event) {
  if (!wanted_.contains(place_of(event))) return;
  const bool beside = event.order != RouteOrder::replace && event.order != RouteOrder::only;
  if (event.action == EventAction::add && !beside) there_.erase(place_of(event));
  to_settle_.insert(place_of(event));
}

// Routes not repeated are gone: a device that goes down removes them without events.
void KernelRoutes::end_sync() {
  synced_ = true;
  std::erase_if(there_, [&](const auto& route) { return !seen_.contains(route.first); });
  for (const auto& [at, route] : wanted_)
    if (!there_.contains(at)) to_settle_.insert(at);
}

bool KernelRoutes::work() {
  if (!synced_) return false;
  for (int i = 0; i < kChangesPerRound && !to_settle_.empty(); ++i)
    settle(to_settle_.extract(to_settle_.begin()).value());
  return !to_settle_.empty();
}

// An operator's route is his, though it has the metric of ours.
void KernelRoutes::enter(const RouteEvent& route, bool ours_is_there) {
  if (ours_is_there)
    commands_.replace_route(route.to, route.metric, route);
  else if (commands_.add_route(route.to, route.metric, route) == Added::already_there)
    throw std::runtime_error("another program has set a route with metric " + std::to_string(route.metric) +
                             ", which stays");
  there_[place_of(route)] = route;  // until the kernel reports it
  seen_.insert(place_of(route));
}

void KernelRoutes::settle(const Place& at) {
  const auto wanted = wanted_.find(at);
  const auto there = there_.find(at);
  try {
    if (wanted == wanted_.end()) {
      if (there != there_.end()) {
        commands_.remove_route(at.first, at.second);
        there_.erase(there);
      }
      given_.erase(at);
    } else {
      if (there == there_.end() || !same_way(wanted->second, there->second))
        enter(wanted->second, there != there_.end());
      given_.insert(at);  // possibly a route of an earlier run
    }
  } catch (const std::runtime_error& e) {
    if (told_.insert(at).second && refused_) refused_(to_string(at.first) + ": " + e.what());
  }
}

}  // namespace surety
