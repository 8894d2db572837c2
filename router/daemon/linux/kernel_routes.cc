// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/kernel_routes.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace surety {

namespace {

constexpr int kChangesPerRound = 256;  // some microseconds each

// True if the next hops are the same; the kernel adds devices to gateways, and changes the order.
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
  return a.blackhole == b.blackhole && gateways(a) == gateways(b) && device(a) == device(b);
}

}  // namespace

KernelRoutes::KernelRoutes(NetlinkCommands& commands, Refused refused)
    : commands_(commands), refused_(std::move(refused)) {}

KernelRoutes::~KernelRoutes() {
  for (const Prefix& to : given_) {
    try {
      commands_.remove_route(to, kMetric);
    } catch (const std::runtime_error&) {
      // The kernel has taken it away already, with a device or its address.
    }
  }
}

void KernelRoutes::want(const std::vector<RouteEvent>& routes) {
  for (const auto& [to, route] : wanted_) to_settle_.insert(to);
  wanted_.clear();
  told_.clear();
  for (const RouteEvent& route : routes) {
    wanted_[route.to] = route;
    to_settle_.insert(route.to);
  }
}

void KernelRoutes::on(const RouteEvent& event) {
  if (event.protocol != kProtocol) return on_others(event);
  if (event.action == EventAction::add) {
    there_[event.to] = event;
    seen_.insert(event.to);
  } else {
    there_.erase(event.to);
  }
  to_settle_.insert(event.to);
}

// A metric has place for one route: ours was replaced, or may be added.
void KernelRoutes::on_others(const RouteEvent& event) {
  if (event.metric != kMetric || !wanted_.contains(event.to)) return;
  if (event.action == EventAction::add) there_.erase(event.to);
  to_settle_.insert(event.to);
}

// Routes not repeated are gone: a device that goes down removes them without events.
void KernelRoutes::end_sync() {
  synced_ = true;
  std::erase_if(there_, [&](const auto& route) { return !seen_.contains(route.first); });
  for (const auto& [to, route] : wanted_)
    if (!there_.contains(to)) to_settle_.insert(to);
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
    commands_.replace_route(route.to, kMetric, route);
  else if (commands_.add_route(route.to, kMetric, route) == Added::already_there)
    throw std::runtime_error("another program has set a route with metric " + std::to_string(kMetric) +
                             ", which stays");
  there_[route.to] = route;  // until the kernel reports it
  seen_.insert(route.to);
}

void KernelRoutes::settle(const Prefix& to) {
  const auto wanted = wanted_.find(to);
  const auto there = there_.find(to);
  try {
    if (wanted == wanted_.end()) {
      if (there != there_.end()) commands_.remove_route(to, kMetric);
      given_.erase(to);
    } else {
      if (there == there_.end() || !same_way(wanted->second, there->second))
        enter(wanted->second, there != there_.end());
      given_.insert(to);  // possibly a route of an earlier run
    }
  } catch (const std::runtime_error& e) {
    if (told_.insert(to).second && refused_) refused_(to_string(to) + ": " + e.what());
  }
}

}  // namespace surety
