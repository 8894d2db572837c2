// SPDX-License-Identifier: BSD-3-Clause
// One run on this machine: DPDK's ports, the worker on its core, and the observing thread's loop.
//
// Errors are one sentence with the fix: std::runtime_error.
#pragma once

#include <rte_mempool.h>

#include <atomic>
#include <memory>
#include <vector>

#include "endpoints/dpdk/commands.h"
#include "endpoints/dpdk/endpoint_reading.h"
#include "endpoints/dpdk/observer.h"
#include "endpoints/dpdk/worker.h"
#include "router/daemon/ports/port.h"
#include "router/process/metrics_server.h"

namespace surety::endpoints {

class Session {
 public:
  // EAL runs. `config` outlives it.
  Session(const config::Endpoints& config, const config::Config& ports, const RunOptions& options,
          bool gentle);
  ~Session();

  // Until the worker is done, or `stop` is set and the flows have closed.
  void run(const std::atomic<bool>& stop);
  const Observer& observer() const { return *observer_; }

 private:
  struct FreePool {
    void operator()(rte_mempool* p) const { rte_mempool_free(p); }
  };
  void start_metrics();
  void observe();
  void abandon();
  void show();

  const config::Endpoints& config_;
  const RunOptions& options_;
  TscClock clock_;
  std::unique_ptr<rte_mempool, FreePool> pool_;
  std::vector<std::unique_ptr<DpdkPort>> ports_;
  std::vector<std::unique_ptr<FramePort>> frames_;
  std::unique_ptr<Traffic> traffic_;
  SnapshotExchange exchange_;
  std::unique_ptr<Observer> observer_;
  std::unique_ptr<Worker> worker_;
  std::unique_ptr<MetricsServer> metrics_;
  LiveTable table_;
  bool live_;
};

}  // namespace surety::endpoints
