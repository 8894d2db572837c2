// SPDX-License-Identifier: BSD-3-Clause
// Adds the routes of YAML to the kernel's table, so that packets of the kernel (answers to a ping, SSH, a
// scrape, BGP) reach all destinations that the data plane reaches.
//
// The routes have a protocol number of their own (83, `surety`), by which a later run finds the routes of an
// earlier one, and the metrics of YAML (1 by default): other programs' routes for the same prefix stay beside
// them, or, with the same metric, replace them. One thread; nothing here blocks.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "router/daemon/linux/netlink_commands.h"
#include "router/pipeline/routes/route_events.h"

namespace surety {

class KernelRoutes {
 public:
  // `refused`: called once for each route that the kernel refuses, e.g. because its gateway is behind no
  // device of the kernel; tried again after each resynchronisation with the kernel, and by
  // try_again().
  using Refused = std::function<void(const std::string& message)>;
  KernelRoutes(NetlinkCommands& commands, Refused refused);
  ~KernelRoutes();  // removes the routes it has added
  KernelRoutes(const KernelRoutes&) = delete;
  KernelRoutes& operator=(const KernelRoutes&) = delete;

  // Leaves the routes in the kernel: the next run has the same ones, or finds them.
  void leave() { given_.clear(); }

  // Replaces the set of routes, one of each prefix and metric. Next hops as for NetlinkCommands::add_route().
  void want(const std::vector<RouteEvent>& routes);

  // Handles a route event of the kernel, for our routes and others'.
  void on(const RouteEvent& event);
  void begin_sync() { seen_.clear(); }
  void end_sync();

  // Tries refused routes again: an address has been added, which may reach their gateways.
  void try_again() { to_settle_.insert(told_.begin(), told_.end()); }

  // Makes a bounded number of changes; true: there are more.
  bool work();

 private:
  void on_others(const RouteEvent& event);
  // A prefix and a metric, for which the kernel has one route.
  using Place = std::pair<Prefix, std::uint32_t>;
  static Place place_of(const RouteEvent& route) { return {route.to, route.metric}; }
  void settle(const Place& at);
  void enter(const RouteEvent& route, bool ours_is_there);

  NetlinkCommands& commands_;
  Refused refused_;
  std::map<Place, RouteEvent> wanted_, there_;  // there_: as reported by the kernel
  std::set<Place> given_, seen_, told_;         // since the start, in this sync, since the last want()
  std::set<Place> to_settle_;
  bool synced_ = false;  // false until the first sync: leftover routes are not known yet
};

}  // namespace surety
