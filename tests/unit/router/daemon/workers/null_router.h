// SPDX-License-Identifier: BSD-3-Clause
// Several workers of one router with null devices: some that packets come by, and two on the way out,
// 10.2.0.0/16 behind port 1 and 10.3.0.0/16 behind port 2. Who drives the workers, and what is in the
// packets, is the user's.
#pragma once

#include <rte_ethdev.h>

#include "router/daemon/workers/worker.h"
#include "router/operate/observe/reading_merge.h"
#include "tests/unit/router/pipeline/data_plane.h"

namespace surety::test {

// Callbacks that see a device's packets while it lives.
class PortTap {
 public:
  explicit PortTap(const DpdkPort& port) : id_(port.id()) {}
  ~PortTap() {
    if (receive_ != nullptr) rte_eth_remove_rx_callback(id_, 0, receive_);
    if (transmit_ != nullptr) rte_eth_remove_tx_callback(id_, 0, transmit_);
  }
  PortTap(const PortTap&) = delete;
  PortTap& operator=(const PortTap&) = delete;

  void on_receive(rte_rx_callback_fn f, void* user) { receive_ = rte_eth_add_rx_callback(id_, 0, f, user); }
  void on_transmit(rte_tx_callback_fn f, void* user) { transmit_ = rte_eth_add_tx_callback(id_, 0, f, user); }

 private:
  std::uint16_t id_;
  const rte_eth_rxtx_callback *receive_ = nullptr, *transmit_ = nullptr;
};

// `feeding`: the first of them receive without end.
inline std::vector<std::unique_ptr<DpdkPort>> make_null_ports(const config::Config& config,
                                                              std::size_t feeding) {
  std::vector<std::unique_ptr<DpdkPort>> ports;
  for (std::size_t p = 0; p < config.ports.size(); ++p) {
    config::Port port = config.ports[p];
    if (p < feeding) port.device.name = kFeedDevice;
    port.mac = port_mac(p);
    ports.push_back(std::make_unique<DpdkPort>(port, p, packet_pool()));
    ports.back()->start();
  }
  return ports;
}

class NullRouter {
 public:
  // `yaml`: of a router with three ports or more.
  NullRouter(const char* yaml, std::size_t count, const WorkerOptions& options, std::size_t feeding)
      : snapshot(configured(yaml)), next_hops(64) {
    ports = make_null_ports(snapshot.config, feeding);
    for (const auto& port : ports) taps.push_back(std::make_unique<PortTap>(*port));
    route("10.2.0.0/16", 10, 1);
    route("10.3.0.0/16", 11, 2);
    std::vector<unsigned> cores;
    for (unsigned w = 0; w < count; ++w) cores.push_back(w);
    const WorkPlan plan = plan_work(snapshot.config, cores, std::vector<PortAbility>(ports.size()));
    fabric = std::make_unique<Fabric>("workers", plan);
    for (std::size_t w = 0; w < count; ++w)
      workers.push_back(std::make_unique<Worker>(WorkerEnvironment{snapshot, ports, shared_fib(), next_hops},
                                                 plan, w, fabric.get(), options));
    for (auto& w : workers) w->connect(workers);
  }
  ~NullRouter() {
    for (const auto& p : prefixes_) shared_fib().remove(p);
  }
  NullRouter(const NullRouter&) = delete;
  NullRouter& operator=(const NullRouter&) = delete;

  Snapshot snapshot;
  NextHopTable next_hops;
  std::vector<std::unique_ptr<DpdkPort>> ports;
  std::vector<std::unique_ptr<PortTap>> taps;
  std::unique_ptr<Fabric> fabric;
  std::vector<std::unique_ptr<Worker>> workers;

 private:
  void route(const std::string& to, std::uint32_t id, PortIndex port) {
    next_hops.set(id, ready(port));
    prefixes_.push_back(parse_prefix(to).value());
    EXPECT_TRUE(shared_fib().add(prefixes_.back(), target_of(prefixes_.back(), {id, 1}).encode()));
  }

  std::vector<Prefix> prefixes_;
};

}  // namespace surety::test
