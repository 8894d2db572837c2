// SPDX-License-Identifier: BSD-3-Clause
// The control thread: follows the kernel, resolves neighbours, hands exceptions of the data plane to the
// kernel.
//
// Everything here runs on one thread, never waits for a worker, and bounds every step of a round.
//
// The kernel side of a port (router/daemon/linux/README.md) is the kernel's own device (af_xdp, af_packet);
// else a TAP mirror, unless the configuration has `twin: off` or the process may not make one; else the
// built-in responder. Devices without a peer (null, pcap) have none. On all other ports the router resolves
// neighbours itself, so that no packet depends on the kernel's neighbour table.
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

#include "router/daemon/linux/divert.h"
#include "router/daemon/linux/icmp_error.h"
#include "router/daemon/linux/kernel_devices.h"
#include "router/daemon/linux/kernel_routes.h"
#include "router/daemon/linux/neighbor_tap.h"
#include "router/daemon/linux/netlink.h"
#include "router/daemon/linux/netlink_commands.h"
#include "router/daemon/linux/responder.h"
#include "router/daemon/linux/steer.h"
#include "router/daemon/linux/tag_selector.h"
#include "router/daemon/neighbor_gate.h"
#include "router/daemon/ports/clock.h"
#include "router/daemon/ports/port.h"
#include "router/daemon/workers/shared.h"
#include "router/operate/observe/episodes.h"
#include "router/pipeline/exception_counters.h"
#include "router/pipeline/routes/port_addresses.h"
#include "router/pipeline/routes/routes.h"

namespace surety {

// The kernel side of a port, of an interface or of a template, as the control thread holds it.
struct ControlPort {
  InterfaceIndex index = 0;
  bool open = false;  // false: the port has no open device yet; all members below are empty
  // Interface index in Routes: of the kernel's own device or of the TAP mirror; negative: of the built-in
  // responder; 0: none.
  int interface = 0;
  std::optional<TapTwin> twin;
  std::optional<ForwardingGuard> guard;  // on a port: for its own device and its interfaces' TAP mirrors
  ForwardingGuard::Watched watched;      // entry of the own device or the TAP mirror
  std::optional<Steer> steer;            // this or `guard`, on the kernel's own device
  std::optional<Divert> divert;          // on the kernel's own device
  std::unique_ptr<Responder> responder;  // nullptr: no neighbours on this port
  std::optional<TagSelector> tags;       // on a template
  std::optional<NeighborTap> tap;        // on the kernel's own device
  std::optional<PortAddresses> addresses;
  std::optional<bool> link_up;    // nullopt: not read yet
  bool inherited = false;         // link and neighbours are the old process's, until the link comes up
  std::optional<bool> told_up;    // last state logged
  std::optional<bool> kernel_up;  // last state from a kernel event
  std::uint64_t link_changes = 0;
  ExceptionCounters counters{};
  // `mtu`: the kernel device's when it was last up; `told_mtu`: from its last event.
  std::optional<std::uint32_t> mtu;
  std::uint32_t told_mtu = 0;

  bool in_kernel() const { return interface > 0; }
};

class Control : public NetlinkMonitor::Handler {
 public:
  // Hands a frame to the worker that owns the port. False: no room; the caller keeps the frame.
  using Inject = std::function<bool(PortIndex, rte_mbuf*)>;

  // The number of frames that this worker has not taken yet.
  using Backlog = NeighborGate::Backlog;

  // `punts`: ring filled by the workers; nullptr: no port has a kernel side. `pool`: for frames to send;
  // nullptr: none can be sent. Throws std::runtime_error if it cannot follow the kernel, or cannot make a TAP
  // mirror that the configuration names; round() continues, with a warning, if the kernel refuses a request.
  // `interfaces`: the workers' table; nullptr: built from `config`. `events` must outlive this object.
  Control(config::Config config, std::span<const std::unique_ptr<DpdkPort>> ports, Forwarding& forwarding,
          EventLog& events, rte_ring* punts, rte_mempool* pool = nullptr, Inject inject = {},
          Backlog backlog = {}, std::shared_ptr<const Interfaces> interfaces = nullptr);
  ~Control() override;  // removes the addresses that this object has set

  // Performs one round: waits for kernel events for at most `patience`, then processes everything.
  void round(std::chrono::milliseconds patience);

  // Applies another configuration, with the same port at each place or none in one of the two: its ports,
  // addresses, interfaces, routes and neighbours. The workers have its interfaces already: next hops refer to
  // them. The devices of new ports are open, or such a port waits for the next call; the devices of removed
  // ports are not touched after the call.
  void configure(const config::Config& config, std::shared_ptr<const Interfaces> interfaces = nullptr);
  // Moves routes away from a port that will be removed, where alternatives exist.
  void withdraw(std::size_t port) { routes_.set_port_up(port, false); }

  // State for the control thread of a new process. The kernel keeps the addresses, routes and neighbours that
  // this one has set; the new process removes them at its end.
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
    std::vector<Station> stations;  // neighbours on interfaces with the same numbers
  };
  Known leave();
  // Called at the start of the new process. A link that comes up first counts as the link that was up.
  void inherit(const Known& known);

  const Routes& routes() const { return routes_; }
  // Callable only by the thread that calls round().
  const std::vector<ControlPort>& ports() const { return control_ports_; }
  const std::map<InterfaceIndex, ControlPort>& links() const { return links_; }  // interfaces with tags
  const IcmpErrors& icmp_errors() const { return icmp_errors_; }
  const std::shared_ptr<const Interfaces>& interfaces() const { return interfaces_; }
  // The kernel side of an interface; nullptr: none.
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

  // Brings the kernel interface of a port up before DPDK opens it, with redirects and router advertisements
  // ignored. The settings are restored when the returned object is destroyed; nullopt: the port has no kernel
  // interface. Throws std::runtime_error.
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
  void take_addresses_back(std::optional<int> ifindex = {});  // nullopt: on all devices

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

  // A punted frame, without its tags.
  struct Punted {
    std::span<std::uint8_t> frame;
    std::size_t l3 = 0;  // offset of its IP header; 0: none
    Customer customer = 0;
    InterfaceIndex interface = 0;  // ingress interface
    ControlPort* link = nullptr;   // nullptr: it was removed
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
  std::vector<ControlPort> control_ports_;       // indexed by port, the same as ports_
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
  AddressHolders holders_;           // holders of addresses that are left to the kernel
  std::vector<pollfd> descriptors_;  // argument of poll() in wait()
  std::vector<std::uint8_t> frame_;  // buffer for one frame
  bool starting_ = true;             // in the constructor: errors throw
  bool more_routes_ = false;         // the next round starts at once
  bool collected_all_ = false;       // this round has read all frames from the kernel
  Time next_look_{}, next_ask_{}, busy_until_{};
};

}  // namespace surety
