// SPDX-License-Identifier: BSD-3-Clause
// The routers that `surety bench` measures: configuration, ports, routes and feed of one path.
#pragma once

#include <rte_mempool.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/config.h"
#include "router/daemon/bench/bench_paths.h"
#include "router/daemon/bench/bench_traffic.h"
#include "router/daemon/ports/port.h"
#include "router/daemon/workers/shared.h"
#include "router/pipeline/snapshot.h"

namespace surety {

// A configuration of pairs of null ports, of which the first is fed, for one of the paths "forward", "csa",
// "everything", "core"; or "access-up" and "access-down": "everything" with a two-tag interface for each
// flow, up to the maximum, at the ingress or at the egress. "flat" and "below": "everything" without the
// aggregate, with flows of two classes, each two of which leave by an interface of their own; in "flat"
// through the port's queues, in "below" through the interface's, each with a shaper, in 8 groups with
// shapers; "below-hosts": as "below", without tags, by subscribers' prefixes. "flat-one" and "below-one": the
// same, but all flows leave by one of the interfaces. Rows of `surety bench --worst`: bench_paths.h. `exits`:
// ports behind the fed one, for the paths without interfaces; more than one with one pair only.
config::Config bench_config(const std::string& path, std::uint32_t flows, std::size_t pairs = 1,
                            std::size_t exits = 1);

struct FreeBenchPool {
  void operator()(rte_mempool* p) const { rte_mempool_free(p); }
};
using BenchPool = std::unique_ptr<rte_mempool, FreeBenchPool>;
// Packet buffers. Throws std::runtime_error, one sentence with the fix.
BenchPool make_bench_pool(const char* name, unsigned buffers);

// The ports, packet buffers and routes that all rows share.
class BenchBed {
 public:
  // `core`: adds the routes of a core router to those of an edge. `ports`: paths use as many as they need.
  // `exits`: packets leave by so many of the ports behind the first.
  explicit BenchBed(bool core, std::size_t ports = 2, std::size_t exits = 1);
  ~BenchBed();
  // Routes of one family, at most.
  static std::uint32_t max_routes(bool core);

  std::span<const std::unique_ptr<DpdkPort>> ports() const { return ports_; }
  std::size_t exits() const { return exits_; }
  const Forwarding& forwarding() const { return forwarding_; }
  // Routes as the edge's, with next hops that leave by these interfaces; valid for all snapshots with the
  // interfaces. Shared while in use, since they are large.
  std::shared_ptr<const Forwarding> by_interfaces(const Snapshot& snapshot,
                                                  const BenchInterfaces& interfaces);
  // Routes as the edge's, with next hops that leave by all ports but the first.
  std::shared_ptr<const Forwarding> by_ports();
  // The traffic of a path: one destination and DSCP per flow.
  std::unique_ptr<BenchFeed> make_feed(const std::string& path, std::uint32_t flows, bool v6) const;
  // Sets the feed that port 0 receives; `feed` must outlive its use.
  void use(BenchFeed* feed) { feed_ = feed; }

 private:
  void add_routes(const std::vector<Prefix>& routes);
  // rte_rx_callback_fn; `self` is a BenchBed.
  static std::uint16_t receive(std::uint16_t port, std::uint16_t queue, rte_mbuf** mbufs, std::uint16_t n,
                               std::uint16_t max, void* self);

  BenchPool pool_;
  std::vector<std::unique_ptr<DpdkPort>> ports_;
  std::size_t exits_;
  Forwarding forwarding_;
  std::map<BenchInterfaces, std::weak_ptr<const Forwarding>> by_interfaces_;
  std::weak_ptr<const Forwarding> by_ports_;
  BenchFeed* feed_ = nullptr;
  const rte_eth_rxtx_callback* callback_ = nullptr;
};

}  // namespace surety
