// SPDX-License-Identifier: BSD-3-Clause
// The control thread: follows the kernel, resolves neighbours, hands it what the data plane cannot finish.
//
// Everything here runs on one thread; the workers are never waited for, and every step of a round is bounded.
//
// What stands behind a port (router/linux/README.md): the kernel's own device (af_xdp, af_packet); else a TAP
// twin, where the configuration does not say `twin: off` and the process may make one; else the built-in
// responder. Devices without another side (null, pcap) have nothing.
#pragma once

#include <rte_mempool.h>
#include <rte_ring.h>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "router/dpdk/control_port.h"
#include "router/dpdk/neighbor_gate.h"
#include "router/dpdk/ports/clock.h"
#include "router/dpdk/ports/port.h"
#include "router/dpdk/workers/forwarding.h"
#include "router/linux/icmp_error.h"
#include "router/linux/interface_settings.h"
#include "router/linux/netlink.h"
#include "router/linux/netlink_commands.h"
#include "router/linux/punt.h"
#include "router/linux/steer.h"
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
  Control(const config::Config& config, std::span<const std::unique_ptr<DpdkPort>> ports,
          Forwarding& forwarding, rte_ring* punts, rte_mempool* pool = nullptr, Inject inject = {},
          Backlog backlog = {});
  ~Control() override;  // takes back the addresses it has given

  // One round: waits for the kernel for at most `patience`, then follows up on everything.
  void round(std::chrono::milliseconds patience);

  // Routes and neighbours of another configuration with the same ports; the rest of it is as it was.
  void configure(const config::Config& config) { routes_.configure(config); }

  const Routes& routes() const { return routes_; }
  // For the thread that calls round().
  const std::vector<ControlPort>& ports() const { return control_ports_; }
  const IcmpErrors& icmp_errors() const { return icmp_errors_; }

  // Brings the interfaces of ports up, deaf to whoever would tell them where to send packets, before DPDK
  // opens them. They are so as long as what it returns is there. Throws std::runtime_error.
  static std::vector<InterfaceSettings> prepare_interfaces(const config::Config& config);

 private:
  void on(const RouteEvent& event) override;
  void on(const NeighborEvent& event) override;
  void on(const AddressEvent& event) override;
  void on(const LinkEvent& event) override { routes_.on(event); }
  void on(const NextHopEvent& event) override;
  void on_resync_begin() override;
  void on_resync_end() override;

  // control_ports.cc
  void open_ports();
  void open_twin(std::size_t port);
  void open_kernel();
  void open_steering();
  void guard(std::size_t port);
  void give_addresses();
  void watch_links();
  void tell_neighbors(std::size_t port);
  void lose_twin(int fd);

  void wait(Duration patience);
  void resolve_gateways();
  void resolve(int ifindex, const IpAddress& address);

  // control_exceptions.cc
  bool deliver_punts();
  ExceptionResult deliver(rte_mbuf* m);
  ExceptionResult deliver_by_port(std::size_t port, std::span<const std::uint8_t> frame,
                                  std::size_t l3_offset);
  ExceptionResult deliver_unresolved(Customer customer, const NextHopEntry& hop,
                                     std::span<std::uint8_t> frame, std::size_t l3_offset);
  ExceptionResult to_kernel(std::span<const std::uint8_t> ip_packet);
  ExceptionResult to_sender(IcmpProblem problem, std::uint16_t mtu, Customer customer,
                            std::span<const std::uint8_t> frame, std::size_t l3_offset);
  bool collect();
  bool collect_twin(std::size_t port);
  bool collect_responder(std::size_t port);
  void send(std::size_t port, std::span<const std::uint8_t> frame, ExceptionResult sent);

  const config::Config& config_;
  std::span<const std::unique_ptr<DpdkPort>> ports_;
  Forwarding& forwarding_;
  rte_ring* punts_;
  rte_mempool* pool_;
  Inject inject_;
  TscClock clock_;
  Routes routes_;
  NeighborGate gate_;
  std::vector<ControlPort> control_ports_;  // by port
  IcmpErrors icmp_errors_;
  std::optional<NetlinkMonitor> monitor_;
  std::optional<NetlinkCommands> commands_;
  std::optional<PuntDevice> punt_device_;
  std::vector<Steer> steers_;                    // and guards
  std::vector<std::pair<int, Prefix>> given_;    // addresses to take back
  std::set<std::pair<int, std::string>> asked_;  // resolutions of this moment: once each is enough
  std::vector<std::uint8_t> frame_;              // room for one
  bool more_routes_ = false;                     // there is work left at once
  bool collected_all_ = false;                   // in this round, of what there was
  Time next_look_{}, next_ask_{}, busy_until_{};
};

}  // namespace surety
