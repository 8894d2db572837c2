// SPDX-License-Identifier: BSD-3-Clause
// All that is known of routes, addresses, links and neighbours, from YAML and from the kernel, and what
// follows of it for the data plane.
//
// One thread; no I/O. After every call the sink holds what the live inputs together
// say, whatever their order:
// - Several sources of one prefix: the router's own addresses and subnets, then YAML, then the kernel by
// metric. A route
//   none of whose next hops has a port is passed over: a YAML gateway on no connected subnet waits for one.
// - A next hop on an interface that is not a port: where a route has no other, its packets go to the kernel
// (kNextHopLocal),
//   which forwards them; they do not fall to a shorter prefix.
// - A neighbour gets a host route while the routes say of its address: on link, on the neighbour's port.
// - A port that is down: its next hops are no_route, except in a group with a better one (see NextHopGroups).
// Which routes are lost when the sink has no room does depend on the order.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "config/config.h"
#include "router/routes/arrivals.h"
#include "router/routes/connected.h"
#include "router/routes/next_hop_groups.h"
#include "router/routes/rib.h"
#include "router/routes/route_events.h"

namespace surety {

class Routes {
 public:
  // The sink outlives this. `next_hops`: capacity of the sink's NextHopTable.
  explicit Routes(RouteSink& sink, std::uint32_t next_hops = NextHopTable::kDefaultCapacity);
  Routes(const Routes&) = delete;  // parts of it refer to it
  Routes& operator=(const Routes&) = delete;

  // Addresses, routes and neighbours of YAML; again after a reload with the same ports:
  // only differences are programmed.
  void configure(const config::Config& config);
  // The kernel's interface that stands for a port; 0: none. Events may come before or after.
  void bind_port(std::size_t port, int ifindex);
  // The device's own link state, for ports that the kernel does not see.
  // A port is up when neither says it is down.
  void set_port_up(std::size_t port, bool up);

  void on(const RouteEvent& event);
  void on(const NextHopEvent& event);  // before the routes that name it
  void on(const NeighborEvent& event);
  void on(const AddressEvent& event);
  void on(const LinkEvent& event);
  // Routes, neighbours and addresses that the kernel had before begin and does not repeat
  // until end are removed at end.
  void begin_kernel_sync();
  void end_kernel_sync();

  // With many routes some calls have much to do: end_kernel_sync(), bind_port(),
  // configure() and a next hop object that changes. They do it in full (the default),
  // or a few milliseconds' worth per `steps` = 10,000, and leave the rest to work();
  // true: there is more. Until then routes of the old state are still in the sink.
  void limit_work(std::size_t steps) { rib_.limit_work(steps); }
  bool work() { return rib_.work(); }

  // From here on a neighbour that becomes known is not ready at once,
  // but takes part in the next batch (see NeighborArrivals).
  void gate_neighbors() { arrivals_.start(); }
  bool collect_arrivals() { return arrivals_.collect(); }
  void advance_arrivals();

  struct Resolution {
    IpAddress address;
    std::uint8_t port = 0;
    int ifindex = 0;  // 0: the port has no interface in the kernel
    friend bool operator==(const Resolution&, const Resolution&) = default;
  };
  // The gateway behind a next hop id. None for on-link ones, where it is the packet's destination, and for
  // ids not in use.
  std::optional<Resolution> gateway(std::uint32_t id) const;
  // Gateways that routes use and whose MAC is not known. Somebody must resolve them without waiting for a
  // packet, since ECMP groups leave them out.
  std::vector<Resolution> unresolved() const;

  std::size_t routes() const { return rib_.programmed(); }
  std::size_t neighbors() const { return neighbors_.size(); }
  std::uint32_t next_hops() const { return groups_.ids_used(); }
  // Prefixes for which the sink, or the next hop ids, had no room. Tried again as others go.
  std::size_t rejected() const { return rib_.rejected(); }

 private:
  struct Port {
    int ifindex = 0;
    bool up = true;
    std::vector<Prefix> addresses;  // of YAML
  };
  // Something of the kernel on an interface, whether that is a port or not; the value starts with the sync
  // that saw it last.
  using InterfaceAddress = std::pair<int, IpAddress>;
  struct KernelNeighbor {
    MacAddress mac{};
    std::uint32_t generation = 0;
  };
  struct KernelAddress {
    int ifindex = 0;
    Prefix address;
    std::uint32_t generation = 0;
  };
  using Neighbors = std::map<NeighborKey, MacAddress>;

  std::optional<std::uint8_t> port_of(int ifindex) const;
  bool is_up(std::size_t port) const;
  Rib::Resolved resolve(const RouteHop& hop) const;
  NextHopEntry entry(const NextHopMember& member) const;
  Resolution resolution(const NextHopMember& member) const;
  void configure_routes(const std::vector<config::Route>& routes);
  void configure_neighbors(const std::vector<config::Neighbor>& neighbors);
  void refresh_connected();
  void refresh_neighbor(const IpAddress& address, std::uint8_t port);
  void refresh_neighbors(int ifindex, std::uint8_t port);
  void refresh_host_route(const IpAddress& address);
  void refresh_host_routes(const Prefix& prefix);

  NextHopGroups groups_;
  Rib rib_;
  std::vector<Port> ports_;
  std::map<int, bool> links_;  // of the kernel: up
  std::vector<KernelAddress> kernel_addresses_;
  ConnectedRoutes connected_;
  Neighbors yaml_neighbors_;
  std::map<InterfaceAddress, KernelNeighbor> kernel_neighbors_;
  Neighbors neighbors_;                            // on ports: YAML's, else the kernel's
  NeighborArrivals arrivals_;                      // of those
  std::map<IpAddress, std::uint8_t> host_routes_;  // neighbours that have one
  std::uint32_t kernel_generation_ = 0, yaml_generation_ = 0;
};

}  // namespace surety
