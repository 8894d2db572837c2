// A whole router: ports, data plane, control, what it shows of itself. Made from a checked configuration.
//
// The constructor opens everything or throws (PortError, EalError, std::runtime_error: one sentence with the
// fix); run() forwards until it is told to stop, drains and returns.
#pragma once

#include <rte_mempool.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "router/dpdk/control.h"
#include "router/dpdk/eal.h"
#include "router/dpdk/forwarding.h"
#include "router/dpdk/port.h"
#include "router/dpdk/telemetry.h"
#include "router/dpdk/worker.h"
#include "router/metrics_server.h"
#include "router/service_rates.h"
#include "router/snapshot.h"

namespace surety {

class Router {
 public:
  // The EAL must have been started by `plan`.
  Router(config::Config config, const EalPlan& plan, std::string config_hash);
  ~Router();

  // Forwards until `stop` is set (by a signal handler or another thread).
  void run(const std::atomic<bool>& stop);

  // Everything the router counts, consistent (reading.h). From any thread.
  Reading read();

 private:
  struct FreePool {
    void operator()(rte_mempool* p) const { rte_mempool_free(p); }
  };
  struct FreeRing {
    void operator()(rte_ring* r) const { rte_ring_free(r); }
  };
  void open_ports();
  void start_observers();
  void tick();

  Snapshot snapshot_;
  EalPlan plan_;
  std::string config_hash_;
  std::unique_ptr<rte_mempool, FreePool> pool_;
  std::vector<std::unique_ptr<DpdkPort>> ports_;
  Forwarding forwarding_;
  std::unique_ptr<rte_ring, FreeRing> punts_;
  std::unique_ptr<Worker> worker_;
  std::unique_ptr<Control> control_;
  std::unique_ptr<Telemetry> telemetry_;
  std::unique_ptr<MetricsServer> metrics_;

  std::mutex shown_mutex_;  // of what follows: written once a second, read by observers
  ServiceRates rates_;
  std::vector<FlowReading> top_flows_;
  std::uint64_t routes_ = 0, neighbors_ = 0;
  Reading last_;  // if the worker should not answer
};

}  // namespace surety
