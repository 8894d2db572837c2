// The routers that `surety bench` measures: configuration, ports, routes and feed of one path.
#pragma once

#include <rte_mempool.h>

#include <memory>
#include <string>
#include <vector>

#include "config/config.h"
#include "router/dpdk/bench_traffic.h"
#include "router/dpdk/forwarding.h"
#include "router/dpdk/port.h"
#include "router/dpdk/worker.h"
#include "router/snapshot.h"

namespace surety {

inline constexpr std::uint32_t kBenchRoutes = 65536;

// A configuration of two null ports for one of the paths "forward", "csa", "everything".
config::Config bench_config(const std::string& path, std::uint32_t flows);

// The ports, packet buffers and routes that all rows share.
class BenchBed {
 public:
  BenchBed();
  ~BenchBed();

  std::span<const std::unique_ptr<DpdkPort>> ports() const { return ports_; }
  const Forwarding& forwarding() const { return forwarding_; }
  // What port 0 receives from now on.
  void feed(std::uint32_t flows, bool v6);

 private:
  struct FreePool {
    void operator()(rte_mempool* p) const { rte_mempool_free(p); }
  };
  void add_routes();

  std::unique_ptr<rte_mempool, FreePool> pool_;
  std::vector<std::unique_ptr<DpdkPort>> ports_;
  Forwarding forwarding_;
  std::unique_ptr<BenchFeed> feed_;
  const rte_eth_rxtx_callback* callback_ = nullptr;
};

}  // namespace surety
