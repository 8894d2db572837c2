// SPDX-License-Identifier: BSD-3-Clause
// The routes of YAML in the kernel's table too, so that what the kernel itself sends (answers to a ping, SSH,
// a scrape, BGP) finds its way from everywhere that the data plane does.
//
// They bear a protocol of their own (83, `surety`), by which a later run knows what an earlier one has left,
// and metric 1: others' routes for the same prefix stay beside them, or, where theirs is 1 too, instead of
// them. One thread; nothing here waits.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "router/linux/netlink_commands.h"
#include "router/routes/route_events.h"

namespace surety {

class KernelRoutes {
 public:
  static constexpr std::uint32_t kMetric = 1;

  // `refused`: told once of each route that the kernel does not take, since its gateway is behind no device
  // of the kernel, for instance; tried again whenever the kernel's state has been read anew.
  using Refused = std::function<void(const std::string& message)>;
  KernelRoutes(NetlinkCommands& commands, Refused refused);
  ~KernelRoutes();  // takes back what it has given
  KernelRoutes(const KernelRoutes&) = delete;
  KernelRoutes& operator=(const KernelRoutes&) = delete;

  // Takes nothing back: those of the next run are the same, or it finds them.
  void leave() { given_.clear(); }

  // These and no others, from here on. Next hops as for NetlinkCommands::add_route().
  void want(const std::vector<RouteEvent>& routes);

  // What the kernel says of routes, ours and others'.
  void on(const RouteEvent& event);
  void begin_sync() { seen_.clear(); }
  void end_sync();

  // A bounded number of changes; true: there are more.
  bool work();

 private:
  void on_others(const RouteEvent& event);
  void settle(const Prefix& to);
  void enter(const RouteEvent& route, bool ours_is_there);

  NetlinkCommands& commands_;
  Refused refused_;
  std::map<Prefix, RouteEvent> wanted_, there_;  // there: as the kernel has told it
  std::set<Prefix> given_, seen_, told_;         // since its start, this sync, the last want()
  std::set<Prefix> to_settle_;
  bool synced_ = false;  // until the kernel has told once, nobody knows what to take away
};

}  // namespace surety
