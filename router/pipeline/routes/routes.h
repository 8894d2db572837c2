// SPDX-License-Identifier: BSD-3-Clause
// All routes, addresses, links and neighbours from YAML and from the kernel, and the resulting state of the
// data plane.
//
// One thread; no I/O. After every call the sink holds the combined result of the current inputs, whatever
// their order:
//  - Several sources of one prefix: the router's own addresses and subnets, then YAML, then the kernel by
//    metric, and in the kernel's order where metrics are equal. Of YAML the lowest metric with a port that is
//    up (floating static routes); with a metric above 1 YAML yields to lower ones of the kernel. A route none
//    of whose next hops has a port is passed over: a YAML gateway on no connected subnet waits for one.
//  - The subnet of an address that the kernel has is a route of the kernel (take_subnets_from_kernel()): with
//    its metric, of the peer, or none at all. YAML yields to it if its metric is 0.
//  - A prefix of the kernel's table `local` is the router's; see RouteSource for longer ones inside.
//  - A `throw` route of the table `local` is no_route while the kernel has both tables in one trie. Then it
//    has no effect, except within a prefix of that table, where it is no_route (the kernel searches `main`).
//  - A route that the data plane cannot do (Unsupported) is kNextHopUnsupported: its packets are dropped, and
//    do not fall to another route.
//  - A next hop on an interface that is not a port: if a route has no other, its packets go to the kernel
//    (kNextHopForeign), which forwards them, except those of customers; they do not fall to a shorter prefix.
//  - A next hop or an address on a macvlan device with a MAC address of VRRP, above a link's device, is on
//  that
//    link, also while the macvlan device is down, as in a backup: a virtual router that changes its state
//    changes no route.
//  - Several sources of a neighbour: YAML, then entries configured in the kernel, then answers of the
//    neighbours themselves. Entries that the kernel finds itself are for its own packets only.
//  - A neighbour gets a host route if the routes make its address on link, on the neighbour's port.
//  - An interface that is down, or whose port is: its next hops are no_route, except in a group with a better
//    one (see NextHopGroups).
//  - Hosts with queues of their own (HostQueues) on a link: packets to them use these if their next hop is on
//    that link, and is a neighbour, whatever the route; so do packets of routes by such a host.
//  - A template has the subnet, its members the neighbours on it.
// If the sink has no room, the routes left out depend on the order.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "config/config.h"
#include "router/pipeline/interfaces/interface_record.h"
#include "router/pipeline/interfaces/interfaces.h"
#include "router/pipeline/routes/arrivals.h"
#include "router/pipeline/routes/next_hop_groups.h"
#include "router/pipeline/routes/prefix_table.h"
#include "router/pipeline/routes/rib.h"
#include "router/pipeline/routes/route_events.h"

namespace surety {

// Routes that follow from a router's own addresses.

// An own address and its interface. nullopt: a device that the router does not forward through (e.g. the
// loopback).
struct OwnAddress {
  Prefix address;  // with host bits
  std::optional<InterfaceIndex> interface;
  std::optional<Prefix> peer{};  // with host bits: the subnet is the peer's
  bool subnet = true;            // there is one
  bool by_kernel = false;        // the subnet is a route of the kernel
  std::optional<IpAddress> broadcast{};
  friend bool operator==(const OwnAddress&, const OwnAddress&) = default;
};

struct ConnectedRoute {
  // Kinds in order of preference, if several addresses give the same prefix.
  enum class Kind : std::uint8_t {
    local,  // an own address, or the subnet-router anycast address of an IPv6 subnet (RFC 4291, 2.6.1; except
            // a /127, RFC 6164)
    blackhole,  // first and last address of an IPv4 subnet up to /30: directed broadcasts are not forwarded
                // (RFC 2644)
    subnet,     // hosts on the interface's link
  };
  Kind kind = Kind::subnet;
  InterfaceIndex interface = 0;  // set for a subnet
  bool by_kernel = false;        // set for a subnet
  friend auto operator<=>(const ConnectedRoute&, const ConnectedRoute&) = default;
};
using ConnectedRoutes = std::vector<std::pair<Prefix, ConnectedRoute>>;  // sorted by prefix, one of each

// If a subnet is on several interfaces, the lowest gets the route. Link-local addresses give no routes.
ConnectedRoutes connected_routes(const std::vector<OwnAddress>& addresses);

// The interface of the longest subnet that contains an address.
std::optional<InterfaceIndex> connected_interface(const ConnectedRoutes& routes, const IpAddress& address);

class Routes {
 public:
  // The sink must outlive this object. `next_hops`: capacity of the sink's NextHopTable.
  explicit Routes(RouteSink& sink, std::uint32_t next_hops = NextHopTable::kDefaultCapacity);
  Routes(const Routes&) = delete;  // members refer to it
  Routes& operator=(const Routes&) = delete;

  // Sets addresses, routes and neighbours of YAML; again after a reload with the same ports: only differences
  // are programmed, and state of removed interfaces is deleted. `interfaces`: the data plane's table;
  // nullptr: built from `config`.
  void configure(const config::Config& config, std::shared_ptr<const Interfaces> interfaces = nullptr);
  // True: subnets of addresses that the kernel has come from its routes, after its first synchronisation;
  // false, the default: from the addresses. Called before configure().
  void take_subnets_from_kernel(bool yes) { kernel_subnets_ = yes; }
  // The kernel device of a port or another link; 0: none. Events may come before or after.
  struct Binding {
    InterfaceIndex link = 0;
    int ifindex = 0;
  };
  void bind(std::span<const Binding> bindings);
  void bind_port(std::size_t port, int ifindex) {
    const Binding b{static_cast<InterfaceIndex>(port), ifindex};
    bind({&b, 1});
  }
  // Sets the link state of ports that the kernel does not see. A port is up unless this or the kernel reports
  // it down.
  void set_port_up(std::size_t port, bool up);

  // Routes of YAML, with their metrics, whose ports are all down, while another one's of their prefix is up.
  using StaticRoute = std::pair<Prefix, std::uint32_t>;
  std::vector<StaticRoute> passed_over() const;

  void on(const RouteEvent& event);
  void on(const NextHopEvent& event);  // before the routes that refer to it
  void on(const NeighborEvent& event);
  // A neighbour has answered; nullopt: none answers any more.
  void learn(InterfaceIndex interface, const IpAddress& address, const std::optional<MacAddress>& mac);
  // True if the kernel has a configured MAC for it.
  bool fixed(int ifindex, const IpAddress& neighbor) const {
    return kernel_neighbors_.contains({ifindex, neighbor});
  }
  void on(const AddressEvent& event);
  void on(const LinkEvent& event);
  // Rules are not followed; but the first change of the defaults, also a removal, separates the kernel's IPv4
  // tables for good.
  void on(const RuleEvent& event);
  // end_kernel_sync() removes the kernel's routes, neighbours and addresses that were not reported again
  // since begin_kernel_sync().
  void begin_kernel_sync();
  void end_kernel_sync();

  // With many routes some calls take long: end_kernel_sync(), bind_port(), configure() and changes of a next
  // hop object. These do all work at once (the default), or a few milliseconds' worth per `steps` = 10,000,
  // and leave the rest to work(); true: there is more. Until then the sink has routes of the old state.
  void limit_work(std::size_t steps) { rib_.limit_work(steps); }
  // A subnet that the kernel takes over is removed by work(), when the kernel's route is there.
  bool work() {
    if (subnets_changed_) refresh_connected();
    return rib_.work();
  }

  // Makes newly resolved neighbours from now on become ready with the next batch (see NeighborArrivals), not
  // at once.
  void gate_neighbors() { arrivals_.start(); }
  bool collect_arrivals() { return arrivals_.collect(); }
  void advance_arrivals();

  struct Resolution {
    IpAddress address;
    InterfaceIndex interface = 0;
    int ifindex = 0;  // 0: no device in the kernel
    friend bool operator==(const Resolution&, const Resolution&) = default;
  };
  // The prefix whose route the data plane uses for an address.
  std::optional<Prefix> route(const IpAddress& address) const { return rib_.longest(address); }
  // The gateway behind a next hop id. nullopt for on-link ones, where it is the packet's destination, and for
  // unused ids.
  std::optional<Resolution> gateway(std::uint32_t id) const;
  // Gateways in use without a known MAC. They must be resolved without waiting for a packet, since ECMP
  // groups leave them out.
  std::vector<Resolution> unresolved() const;
  bool knows(InterfaceIndex interface, const IpAddress& neighbor) const {
    return neighbors_.contains({neighbor, interface});
  }

  // The tables of all routes and all known neighbours, for copies (route_copy.h).
  const Rib& rib() const { return rib_; }
  enum class NeighborSource : std::uint8_t { yaml, kernel, learned };  // in order of preference
  // Calls f(address, interface, mac, source) for `count` known neighbours from `from` on; returns where to
  // continue, nullopt: complete.
  template <class F>
  std::optional<NeighborKey> look_at_neighbors(const NeighborKey& from, std::size_t count, F&& f) const {
    auto n = neighbors_.lower_bound(from);
    for (; n != neighbors_.end() && count > 0; ++n, --count)
      f(n->first.first, n->first.second, n->second, source_of(n->first));
    return n == neighbors_.end() ? std::nullopt : std::optional(n->first);
  }

  std::size_t routes() const { return rib_.programmed(); }
  std::size_t neighbors() const { return neighbors_.size(); }
  std::uint32_t next_hops() const { return groups_.ids_used(); }
  // Prefixes for which the sink, or the next hop ids, had no room. Tried again when others are removed.
  std::size_t rejected() const { return rib_.rejected(); }

 private:
  // A port, an interface or a template.
  struct Link {
    int ifindex = 0;
    bool up = true;
    std::vector<Prefix> addresses;  // from YAML
  };
  // A device of the kernel, port or not.
  struct Device {
    bool up = false;
    int below = 0;  // index of the device below a macvlan device; 0: another kind of device
    friend bool operator==(const Device&, const Device&) = default;
  };
  // Kernel state on an interface, port or not; the values have the sync that reported them last.
  using InterfaceAddress = std::pair<int, IpAddress>;
  struct KernelNeighbor {
    MacAddress mac{};
    std::uint32_t generation = 0;
  };
  struct KernelAddress {
    int ifindex = 0;
    Prefix address;
    std::uint32_t generation = 0;
    std::optional<Prefix> peer{};
    bool subnet = true;
    std::optional<IpAddress> broadcast{};
  };
  using Neighbors = std::map<NeighborKey, MacAddress>;

  NeighborSource source_of(const NeighborKey& neighbor) const;
  const InterfaceRecord& record(InterfaceIndex i) const { return (*interfaces_)[i]; }
  std::optional<InterfaceIndex> link_of(int ifindex) const;
  bool is_up(InterfaceIndex link) const;
  bool is_own(const KernelAddress& address) const;
  void configure_links(const config::Config& config);
  void forget_gone();
  Rib::Resolved resolve(const RouteHop& hop) const;
  std::optional<InterfaceIndex> member_with(const IpAddress& address, InterfaceIndex link) const;
  NextHopEntry entry(const NextHopMember& member) const;
  Resolution resolution(const NextHopMember& member) const;
  void configure_routes(const config::Config& config, const Interfaces& interfaces);
  void follow_ports();
  void configure_neighbors(const std::vector<config::Neighbor>& neighbors);
  RouteCandidate kernel_candidate(const RouteEvent& event) const;
  std::vector<OwnAddress> own_addresses() const;
  void refresh_connected();
  void refresh_neighbor(const IpAddress& address, InterfaceIndex interface);
  void refresh_neighbors(int ifindex, InterfaceIndex link);
  void refresh_host_route(const IpAddress& address);
  void refresh_host_routes(const Prefix& prefix);

  NextHopGroups groups_;
  Rib rib_;
  std::shared_ptr<const Interfaces> interfaces_;
  std::map<InterfaceIndex, Link> links_;
  std::unordered_map<int, InterfaceIndex> bound_;  // links, by kernel device
  std::map<int, Device> devices_;                  // kernel devices, by index
  std::vector<KernelAddress> kernel_addresses_;
  std::vector<OwnAddress> own_addresses_;  // addresses of all links, and the kernel's other ones
  ConnectedRoutes connected_;              // from own_addresses_
  bool kernel_subnets_ = false, synced_ = false, subnets_changed_ = false;
  Neighbors yaml_neighbors_, learned_;
  std::map<InterfaceAddress, KernelNeighbor> kernel_neighbors_;
  Neighbors neighbors_;        // the best source of each
  NeighborArrivals arrivals_;  // states of neighbors_
  // Neighbours that have a host route: their interface, and the MTU of the route that makes them neighbours.
  std::map<IpAddress, std::pair<InterfaceIndex, std::uint16_t>> host_routes_;
  std::uint32_t kernel_generation_ = 0;
  struct {
    std::uint32_t generation = 0;
    std::vector<Prefix> floating{};  // prefixes with several routes, perhaps more than once
  } yaml_{};
};

}  // namespace surety
