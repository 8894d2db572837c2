// SPDX-License-Identifier: BSD-3-Clause
// The router's own entries in the kernel: addresses, routes and neighbours, and the MTU of its links. With
// them the kernel's own packets take the paths of the data plane.
//
// Requests that the kernel refuses are logged; refused addresses are for AddressKeeper. Before connect()
// nothing is requested; only the destructor connects, if it has inherited addresses to remove.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "router/daemon/control/control_links.h"
#include "router/daemon/linux/kernel_routes.h"
#include "router/daemon/linux/netlink_commands.h"
#include "router/pipeline/routes/route_events.h"
#include "router/pipeline/routes/routes.h"

namespace surety {

class KernelEntries {
 public:
  using DeviceAddress = std::pair<int, Prefix>;  // the kernel's index of the device

  KernelEntries(ControlLinks& links, const Routes& routes) : links_(links), routes_(routes) {}
  // Removes the entries that this object has set, unless leave() was called.
  ~KernelEntries();
  KernelEntries(const KernelEntries&) = delete;
  KernelEntries& operator=(const KernelEntries&) = delete;

  // Opens a connection in the calling thread's network namespace. Throws std::runtime_error.
  void connect() { commands_.emplace(); }
  bool connected() const { return commands_.has_value(); }

  // Sets the configured addresses of a link.
  void add_addresses(const ControlPort& c);
  // The addresses that the kernel has refused since, with the reason.
  const std::map<DeviceAddress, std::string>& refused() const { return refused_; }
  // Removes an address that this object has set.
  void remove_address(const ControlPort& c, const Prefix& address);
  // Removes all addresses of a device that this object has set.
  void remove_addresses(int ifindex);
  // The kernel has deleted the device of a link, with its addresses.
  void forget_device(int ifindex);
  // Sets addresses and MTU of a link that has come up again.
  void restore(const ControlPort& c, const LinkEvent& link);
  // Sets the MTU of ports with a TAP mirror, where it differs from the previous configuration.
  void change_mtus(const config::Config& before);

  // Sets a neighbour of a link, or removes it if there is no `mac`. `pinned`: ARP and ND do not change the
  // entry.
  void set_neighbor(const ControlPort& c, const IpAddress& address, const std::optional<MacAddress>& mac,
                    bool pinned = false);
  // Removes all neighbours of a link.
  void remove_neighbors(const ControlPort& c);

  // Sets the routes of the configuration, at the start and when it changes; without those that the data plane
  // passes over (Routes::passed_over()).
  void set_routes();
  // Called when links have gone up or down.
  void follow_links();
  // Makes a bounded number of changes to routes; true: there are more.
  bool work() { return kernel_routes_ && kernel_routes_->work(); }

  // Follows the kernel's events.
  void on(const RouteEvent& event) {
    if (kernel_routes_) kernel_routes_->on(event);
  }
  void on(const AddressEvent& event);
  void begin_sync() {
    if (kernel_routes_) kernel_routes_->begin_sync();
  }
  void end_sync() {
    if (kernel_routes_) kernel_routes_->end_sync();
  }

  // Leaves all entries to a new process, and returns the addresses to remove at its end.
  std::set<DeviceAddress> leave();
  // Takes over an address of the old process.
  void inherit(const DeviceAddress& address) { given_.insert(address); }

 private:
  std::vector<RouteEvent> routes_of_config() const;
  void take_back(std::optional<int> ifindex);  // nullopt: on all devices

  ControlLinks& links_;
  const Routes& routes_;
  std::optional<NetlinkCommands> commands_;
  std::optional<KernelRoutes> kernel_routes_;
  std::vector<Routes::StaticRoute> passed_over_;
  std::set<DeviceAddress> given_;  // addresses to remove
  std::map<DeviceAddress, std::string> refused_;
  bool left_ = false;
};

}  // namespace surety
