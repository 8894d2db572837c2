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

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "router/daemon/control/address_keeper.h"
#include "router/daemon/control/control_links.h"
#include "router/daemon/control/frame_collector.h"
#include "router/daemon/control/frame_sender.h"
#include "router/daemon/control/kernel_entries.h"
#include "router/daemon/control/kernel_programs.h"
#include "router/daemon/control/link_opener.h"
#include "router/daemon/control/link_watch.h"
#include "router/daemon/control/neighbor_gate.h"
#include "router/daemon/control/punt_delivery.h"
#include "router/daemon/control/virtual_macs.h"
#include "router/daemon/control_state.h"
#include "router/daemon/linux/kernel_devices.h"
#include "router/daemon/linux/netlink.h"
#include "router/daemon/ports/clock.h"
#include "router/operate/observe/episodes.h"
#include "router/operate/observe/kernel_differences.h"
#include "router/pipeline/routes/routes.h"

namespace surety {

class DpdkPort;
class Forwarding;

// The destructor removes the router's entries from the kernel, unless leave() was called.
class Control : public NetlinkMonitor::Handler {
 public:
  using Inject = FrameSender::Inject;
  using Known = ControlState;

  // The number of frames that this worker has not taken yet.
  using Backlog = NeighborGate::Backlog;

  // `punts`: ring filled by the workers; nullptr: no port has a kernel side. `pool`: for frames to send;
  // nullptr: none can be sent. Throws std::runtime_error if it cannot follow the kernel, or cannot make a TAP
  // mirror that the configuration names; round() continues, with a warning, if the kernel refuses a request.
  // `interfaces`: the workers' table; nullptr: built from `config`. `events` must outlive this object.
  Control(config::Config config, std::span<const std::unique_ptr<DpdkPort>> ports, Forwarding& forwarding,
          EventLog& events, rte_ring* punts, rte_mempool* pool = nullptr, Inject inject = {},
          Backlog backlog = {}, std::shared_ptr<const Interfaces> interfaces = nullptr);

  // Performs one round: waits for kernel events for at most `patience`, then processes everything.
  void round(std::chrono::milliseconds patience);

  // Applies another configuration, with the same port at each place or none in one of the two: its ports,
  // addresses, interfaces, routes and neighbours. The workers have its interfaces already: next hops refer to
  // them. The devices of new ports are open, or such a port waits for the next call; the devices of removed
  // ports are not touched after the call.
  void configure(const config::Config& config, std::shared_ptr<const Interfaces> interfaces = nullptr);
  // Moves routes away from a port that will be removed, where alternatives exist.
  void withdraw(std::size_t port) {
    routes_.set_port_up(port, false);
    kernel_.follow_links();
  }

  // Leaves the entries in the kernel to a new process, and returns the state for it.
  Known leave();
  // Called at the start of the new process. A link that comes up first counts as the link that was up.
  void inherit(const Known& known);

  const Routes& routes() const { return routes_; }
  // Callable only by the thread that calls round().
  const std::vector<ControlPort>& ports() const { return links_.ports(); }
  // Interfaces with tags, and templates.
  const std::map<InterfaceIndex, ControlPort>& links() const { return links_.tagged(); }
  const IcmpErrors& icmp_errors() const { return punts_.icmp_errors(); }
  NetlinkDefects netlink_defects() const { return monitor_ ? monitor_->defects() : NetlinkDefects{}; }
  const std::shared_ptr<const Interfaces>& interfaces() const { return links_.interfaces(); }
  // The kernel side of an interface; nullptr: none.
  const ControlPort* link_of(InterfaceIndex interface) const { return links_.link(interface); }
  template <class F>
  void for_each_responder(F&& f) const {
    for (const ControlPort& c : ports())
      if (c.responder) f(c.index, *c.responder);
    for (const auto& [index, c] : links())
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
  void on(const RuleEvent& event) override;
  void on_resync_begin() override;
  void on_resync_end() override;

  void open_kernel();
  void accept_virtual_macs();
  void wait(Duration patience);
  void resolve_gateways();
  void keep_mac(ControlPort& c);

  const std::span<const std::unique_ptr<DpdkPort>> devices_;  // indexed by port; nullptr: not open
  TscClock clock_;
  Routes routes_;
  NeighborGate gate_;
  GatewayEvents gateways_;
  KernelDifferences differences_;
  ControlLinks links_;
  std::optional<NetlinkMonitor> monitor_;
  std::optional<PuntDevice> punt_device_;
  KernelPrograms programs_;
  KernelEntries kernel_;
  AddressKeeper keeper_;
  VirtualMacs virtual_macs_;
  LinkWatch watch_;
  LinkOpener opener_;
  FrameSender sender_;
  FrameCollector collector_;
  PuntDelivery punts_;
  std::vector<pollfd> descriptors_;  // argument of poll() in wait()
  bool more_routes_ = false;         // the next round starts at once
  Time next_ask_{}, busy_until_{};
};

}  // namespace surety
