// SPDX-License-Identifier: BSD-3-Clause
// The control thread: follows the kernel, resolves neighbours, hands it what the data plane cannot finish.
//
// Everything here runs on one thread; the workers are never waited for, and every step of a round is bounded.
//
// What stands behind a port (router/linux/README.md): the kernel's own device (af_xdp, af_packet); else a TAP
// twin, where the configuration does not say `twin: off` and the process may make one; else the built-in
// responder. Devices without another side (null, pcap) have nothing. Stations are found by the router itself
// on all ports that have something, so that no packet depends on the kernel's table of neighbours.
#pragma once

#include <poll.h>
#include <rte_mempool.h>
#include <rte_ring.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "router/dpdk/control_port.h"
#include "router/dpdk/neighbor_gate.h"
#include "router/dpdk/ports/clock.h"
#include "router/dpdk/ports/port.h"
#include "router/dpdk/workers/forwarding.h"
#include "router/linux/address_holders.h"
#include "router/linux/forwarding_guard.h"
#include "router/linux/icmp_error.h"
#include "router/linux/interface_settings.h"
#include "router/linux/kernel_routes.h"
#include "router/linux/netlink.h"
#include "router/linux/netlink_commands.h"
#include "router/linux/punt.h"
#include "router/linux/steer.h"
#include "router/observe/gateway_events.h"
#include "router/routes/routes.h"

namespace surety {

class Control : public NetlinkMonitor::Handler {
 public:
  // Hands a frame to the worker that owns the port. False: no room; the frame is still the caller's.
  using Inject = std::function<bool(PortIndex, rte_mbuf*)>;

  // How many of those it has not taken yet.
  using Backlog = NeighborGate::Backlog;

  // `punts`: ring filled by the workers; null: nobody behind any port. `pool`: for frames to send; null: none
  // can be. Throws std::runtime_error where the kernel cannot be followed, and where a twin that the
  // configuration names cannot be made; round() goes on, with a warning, whatever the kernel refuses.
  // `interfaces`: as the workers have them; null: of this configuration. `events` outlives this.
  Control(config::Config config, std::span<const std::unique_ptr<DpdkPort>> ports, Forwarding& forwarding,
          EventLog& events, rte_ring* punts, rte_mempool* pool = nullptr, Inject inject = {},
          Backlog backlog = {}, std::shared_ptr<const Interfaces> interfaces = nullptr);
  ~Control() override;  // takes back the addresses it has given

  // One round: waits for the kernel for at most `patience`, then follows up on everything.
  void round(std::chrono::milliseconds patience);

  // Another configuration, with the same port at each place or none in one of the two: ports, addresses,
  // interfaces, routes and neighbours of it. The workers have its interfaces already: next hops name them.
  // The devices of ports that come are open, or that port waits for the next call; those of ports that go are
  // not touched any more afterwards.
  void configure(const config::Config& config, std::shared_ptr<const Interfaces> interfaces = nullptr);
  // A port will go: routes take other ways, where there are some.
  void withdraw(std::size_t port) { routes_.set_port_up(port, false); }

  // What another router's control thread goes on with: the kernel keeps the addresses that it has been given,
  // routes and neighbours, and that one takes them back.
  struct Known {
    struct Address {
      int device;  // the kernel's index
      Prefix address;
    };
    struct Station {
      InterfaceIndex interface;
      IpAddress address;
      MacAddress mac;
    };
    std::vector<Address> addresses;
    std::vector<Station> stations;  // of interfaces of the same numbers
  };
  Known leave();
  // At its start. A link that comes up first is the one that was up.
  void inherit(const Known& known);

  const Routes& routes() const { return routes_; }
  // For the thread that calls round().
  const std::vector<ControlPort>& ports() const { return control_ports_; }
  const std::map<InterfaceIndex, ControlPort>& links() const { return links_; }  // those with tags
  const IcmpErrors& icmp_errors() const { return icmp_errors_; }
  const std::shared_ptr<const Interfaces>& interfaces() const { return interfaces_; }
  // What stands behind an interface; null: nothing.
  const ControlPort* link_of(InterfaceIndex interface) const {
    return const_cast<Control*>(this)->link(interface);
  }
  template <class F>
  void for_each_responder(F&& f) const {
    for (const ControlPort& c : control_ports_)
      if (c.responder) f(c.index, *c.responder);
    for (const auto& [index, c] : links_)
      if (c.responder) f(index, *c.responder);
  }

  // Brings the interface of a port up, deaf to whoever would tell it where to send packets, before DPDK opens
  // it. It is so as long as what it returns is there; none: it has no interface. Throws std::runtime_error.
  static std::optional<InterfaceSettings> prepare_interface(const config::Port& port);

 private:
  void on(const RouteEvent& event) override;
  void on(const NeighborEvent& event) override;
  void on(const AddressEvent& event) override;
  void on(const LinkEvent& event) override;
  void on(const NextHopEvent& event) override;
  void on_resync_begin() override;
  void on_resync_end() override;

  // control_ports.cc
  void open_ports();
  void open_port(std::size_t port);
  void close_ports(const config::Config& next);
  void close_port(ControlPort& c);
  void open_twin(ControlPort& c, const std::optional<std::string>& twin);
  void open_kernel();
  void open_steering(std::size_t port);
  void guard(std::size_t port);
  void guard_forwarding(ControlPort& c);
  void check_sources();
  void watch_links();
  void tell_link(ControlPort& c, bool up);
  void follow_port(ControlPort& c, bool up);
  void come_up(ControlPort& c, bool up);
  void divert(std::size_t port);
  void keep_diverting(std::size_t port);
  void open_tap(std::size_t port);
  void lose_device(int fd);

  // control_kernel.cc
  void give_addresses(const ControlPort& port);
  void change_addresses(const config::Config& before);
  void take_address_back(ControlPort& c, const Prefix& address);
  void restore(const ControlPort& port, const LinkEvent& link);
  std::vector<RouteEvent> kernel_routes_of(const config::Config& config) const;
  void change_mtus(const config::Config& before);
  void forget_neighbors(const ControlPort& c);
  void take_addresses_back(std::optional<int> ifindex = {});  // none: of all devices

  void keep_room_for(ControlPort& port, const MacAddress& neighbor);
  void wait(Duration patience);
  void resolve_gateways();
  void tell_kernel(const ControlPort& port, const IpAddress& address, const std::optional<MacAddress>& mac,
                   bool pinned = false);

  // control_interfaces.cc
  void share_addresses();
  void open_interfaces();
  void open_interface(std::size_t definition);
  void close_interfaces(const config::Config& next_config, const Interfaces& next);
  void close(ControlPort& c);
  ControlPort* link(InterfaceIndex interface);
  ControlPort* link_with(int ifindex);
  template <class F>
  void for_each_link(F&& f) {
    for (ControlPort& c : control_ports_) f(c);
    for (auto& [index, c] : links_) f(c);
  }
  std::string name_of(const ControlPort& c) const { return interfaces_->name(c.index); }
  std::size_t port_of(const ControlPort& c) const { return (*interfaces_)[c.index].port; }
  std::uint16_t mtu_of(const ControlPort& c) const { return (*interfaces_)[c.index].mtu; }
  const std::vector<Prefix>& addresses_of(const ControlPort& c) const;

  // control_exceptions.cc
  // A frame that came up, without its tags.
  struct Punted {
    std::span<std::uint8_t> frame;
    std::size_t l3 = 0;  // its IP header; 0: none
    Customer customer = 0;
    InterfaceIndex interface = 0;  // it came by
    ControlPort* link = nullptr;   // null: that is gone
  };
  bool deliver_punts();
  void tell_refused(rte_mbuf* m, const Punted& p);
  Punted take(rte_mbuf* m);
  ExceptionResult deliver(rte_mbuf* m, const Punted& p);
  ExceptionResult deliver_by_port(const Punted& p);
  ExceptionResult deliver_unresolved(const Punted& p, const NextHopEntry& hop);
  ExceptionResult to_kernel(std::span<const std::uint8_t> ip_packet);
  ExceptionResult to_sender(IcmpProblem problem, std::uint16_t mtu, const Punted& p);
  IcmpErrorResult report(IcmpProblem problem, std::uint16_t mtu, const Punted& p);
  bool collect();
  template <class Device>
  bool collect_from(Device& device, ControlPort& c, ExceptionResult sent);
  bool collect_tap(ControlPort& c);
  bool collect_responder(ControlPort& c);
  int send_responder(ControlPort& c, Time now);
  int send_advertisements(ControlPort& c, ExceptionResult sent);
  void set_own_dscp(std::span<std::uint8_t> frame) const;
  void send(InterfaceIndex interface, std::span<const std::uint8_t> frame, ExceptionResult sent);

  config::Config config_;
  std::shared_ptr<const Interfaces> interfaces_;
  std::span<const std::unique_ptr<DpdkPort>> ports_;
  Forwarding& forwarding_;
  EventLog& events_;
  rte_ring* punts_;
  rte_mempool* pool_;
  Inject inject_;
  TscClock clock_;
  Routes routes_;
  NeighborGate gate_;
  GatewayEvents gateways_;
  std::vector<ControlPort> control_ports_;       // by port, the same as ports_
  std::map<InterfaceIndex, ControlPort> links_;  // interfaces with tags, and templates
  std::unordered_map<int, InterfaceIndex> by_device_;
  PortAddresses::Shared all_addresses_;
  IcmpErrors icmp_errors_;
  bool name_interfaces_;
  std::optional<NetlinkMonitor> monitor_;
  std::optional<NetlinkCommands> commands_;
  std::optional<PuntDevice> punt_device_;
  std::optional<ForwardingGuard> punt_guard_;
  TcProgram::Attachment punt_mark_;
  std::optional<KernelRoutes> kernel_routes_;
  std::set<std::pair<int, Prefix>> given_;  // addresses to take back
  bool left_ = false;
  AddressHolders holders_;           // of addresses that are left to the kernel
  std::vector<pollfd> descriptors_;  // what wait() looks at
  std::vector<std::uint8_t> frame_;  // room for one
  bool starting_ = true;             // what cannot be made ends it
  bool more_routes_ = false;         // there is work left at once
  bool collected_all_ = false;       // in this round, of what there was
  Time next_look_{}, next_ask_{}, busy_until_{};
};

}  // namespace surety
