// SPDX-License-Identifier: BSD-3-Clause
// The routers that `surety bench` measures: configuration, ports, routes and feed of one path.
#pragma once

#include <rte_mempool.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "config/config.h"
#include "router/dpdk/bench/bench_traffic.h"
#include "router/dpdk/ports/port.h"
#include "router/dpdk/workers/forwarding.h"
#include "router/snapshot.h"

namespace surety {

// A configuration of pairs of null ports, the one fed and the other not, for one of the paths "forward",
// "csa", "everything", "core"; or "access-up" and "access-down": "everything" with an interface of two tags
// for each flow, as far as there can be, where packets come in or where they leave.
config::Config bench_config(const std::string& path, std::uint32_t flows, std::size_t pairs = 1);

inline bool is_access(const std::string& path) {
  return path.starts_with("access");
}
constexpr std::uint32_t bench_interfaces(std::uint32_t flows) {
  return std::min<std::uint32_t>(flows, 16 * kInterfacesPerTag);
}

// The ports, packet buffers and routes that all rows share.
class BenchBed {
 public:
  // `core`: with the routes of a core router beside those of an edge.
  explicit BenchBed(bool core);
  ~BenchBed();
  // Routes of one family that there is room for.
  static std::uint32_t max_routes(bool core);

  std::span<const std::unique_ptr<DpdkPort>> ports() const { return ports_; }
  const Forwarding& forwarding() const { return forwarding_; }
  // Routes as the edge has, but their next hops leave by so many interfaces of two tags.
  static std::unique_ptr<Forwarding> by_interfaces(const Snapshot& snapshot, std::uint32_t interfaces);
  // The traffic of a path: one destination and DSCP per flow.
  std::unique_ptr<BenchFeed> make_feed(const std::string& path, std::uint32_t flows, bool v6) const;
  // What port 0 receives from now on; it must outlive that.
  void use(BenchFeed* feed) { feed_ = feed; }

 private:
  struct FreePool {
    void operator()(rte_mempool* p) const { rte_mempool_free(p); }
  };
  void add_routes(const std::vector<Prefix>& routes);
  // rte_rx_callback_fn; `self` is a BenchBed.
  static std::uint16_t receive(std::uint16_t port, std::uint16_t queue, rte_mbuf** mbufs, std::uint16_t n,
                               std::uint16_t max, void* self);

  std::unique_ptr<rte_mempool, FreePool> pool_;
  std::vector<std::unique_ptr<DpdkPort>> ports_;
  Forwarding forwarding_;
  BenchFeed* feed_ = nullptr;
  const rte_eth_rxtx_callback* callback_ = nullptr;
};

}  // namespace surety
