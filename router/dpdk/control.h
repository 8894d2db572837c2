// The control thread: follows the kernel, resolves neighbours, hands it what the data plane cannot finish.
//
// Everything here runs on one thread; the worker is never waited for.
#pragma once

#include <rte_ring.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "router/dpdk/forwarding.h"
#include "router/dpdk/port.h"
#include "router/linux/netlink.h"
#include "router/linux/netlink_commands.h"
#include "router/linux/punt.h"
#include "router/linux/steer.h"
#include "router/routes.h"

namespace surety {

class Control : public NetlinkMonitor::Handler {
 public:
  // `punts`: ring filled by the worker; null: no port has a kernel peer.
  Control(const config::Config& config, std::span<const std::unique_ptr<DpdkPort>> ports,
          Forwarding& forwarding, rte_ring* punts);
  ~Control() override;  // takes back the addresses it has given

  // One round: waits for the kernel for at most `patience`, then follows up on everything.
  void round(std::chrono::milliseconds patience);

  const Routes& routes() const { return routes_; }
  // Brings the interfaces of ports up, before DPDK opens them.
  static void prepare_interfaces(const config::Config& config);

 private:
  void on(const RouteEvent& event) override;
  void on(const NeighborEvent& event) override;
  void on(const AddressEvent& event) override;
  void on(const LinkEvent& event) override { routes_.on(event); }
  void on_resync_begin() override;
  void on_resync_end() override;

  void open_kernel();
  void give_addresses();
  void open_steering();
  void deliver_punts();
  void deliver(rte_mbuf* m);
  void resolve_gateways();
  void resolve(int ifindex, const config::Address& address);
  void watch_links();

  const config::Config& config_;
  std::span<const std::unique_ptr<DpdkPort>> ports_;
  Forwarding& forwarding_;
  rte_ring* punts_;
  Routes routes_;
  std::vector<int> ifindex_;  // by port; 0: none
  std::optional<NetlinkMonitor> monitor_;
  std::optional<NetlinkCommands> commands_;
  std::optional<PuntDevice> punt_device_;
  std::vector<Steer> steers_;
  std::vector<std::pair<int, config::Prefix>> given_;  // addresses to take back
  std::set<std::pair<int, std::string>> asked_;        // resolutions of this moment: once each is enough
  std::chrono::steady_clock::time_point next_second_, next_ask_;
};

}  // namespace surety
