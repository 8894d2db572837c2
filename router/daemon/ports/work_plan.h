// SPDX-License-Identifier: BSD-3-Clause
// The plan of the workers: the receive queues of each, and the owner of each egress
// (router/pipeline/README.md, Workers).
//
// The default depends on the devices' capabilities: ports are assigned to the workers in order, a port's
// worker owns its egress; a port whose device spreads flows over queues itself (RSS) gets a queue for each
// worker; any other port is read by its own worker, which processes all its packets. If a worker would then
// receive nothing, these readers dispatch packets by flow to all workers: this costs a change of caches per
// packet, and pays only for idle workers. A port's `worker:` and `receive:` in YAML override the default.
//
// Packets of one flow, and of one contract, always have the same worker: if a rule's contracts cover more
// than a flow (`per: source` and the like), packets are spread by the contract's key, or not at all.
//
// Contracts of a rule without a port have packets from all customer ports, unless they are `per: flow` or
// `per: vlan`, which belong to one port. Customer ports are then planned together. By source or destination,
// the owner of each port dispatches, all with the same hash (devices do not spread: each has a hash of its
// own). If dispatch cannot separate contracts, one worker receives from all customer ports: the one in a
// port's `receive: {workers: ...}`, or else the first customer port's owner. A configured reader applies to
// all customer ports in the first case too; different readers, or several queues without one reader, are
// refused.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/config.h"
#include "router/pipeline/dispatch.h"
#include "router/pipeline/handover.h"
#include "router/pipeline/signals/congestion_signal.h"

namespace surety {

// The spread that the contracts of packets from `port` permit.
Spread spread_of(const config::Config& config, std::size_t port);

inline constexpr unsigned kSignalRingSize = 256;

using config::kMaxWorkers;

// Capabilities of a device.
struct PortAbility {
  std::uint16_t max_rx_queues = 1;
  bool rss = false;                                  // spreads flows over its queues, symmetrically
  bool rss_source = false, rss_destination = false;  // spreads by one address
  bool spreads_by(Spread s) const {
    return s == Spread::flow          ? rss
           : s == Spread::source      ? rss_source
           : s == Spread::destination ? rss_destination
                                      : false;
  }
};

struct WorkPlan {
  struct Port {
    std::size_t owner = 0;             // worker (not core) that queues and transmits
    std::vector<std::size_t> readers;  // indexed by receive queue; empty: there is no such port
    Spread spread = Spread::none;
    bool dispatch = false;  // the only reader dispatches packets to all workers
    bool exists() const { return !readers.empty(); }
  };
  std::vector<unsigned> cores;  // indexed by worker
  std::vector<Port> ports;
};

// `cores`: cores of the workers, at most kMaxWorkers; `abilities`: indexed by port. Throws
// std::runtime_error, one sentence with the fix, if the configuration requires more than a device can do, has
// a core that is no worker, or has packets of one contract received by several workers.
WorkPlan plan_work(const config::Config& config, const std::vector<unsigned>& cores,
                   const std::vector<PortAbility>& abilities);

// The plan for the next configuration of a running router: common ports keep their plan, removed ports are
// left out, new ones are assigned as by plan_work(), or as the ports that they share contracts with. Throws
// as plan_work(); the caller checks with serves() whether the plan fits the configuration.
WorkPlan plan_on(const WorkPlan& before, const config::Config& config,
                 const std::vector<PortAbility>& abilities);

// True if a plan is correct for another configuration with the same ports: packets of one contract have one
// worker, even if plan_work() would assign the rest differently.
bool serves(const WorkPlan& plan, const config::Config& config);

// DPDK memory of the rings between workers (Fabric), at most, in bytes: grows with the square of the number
// of workers.
constexpr std::uint64_t fabric_bytes(std::uint64_t workers, std::uint64_t ports) {
  constexpr std::uint64_t head = 512;  // bytes of a ring
  const std::uint64_t signals = workers * (workers - 1) * (kSignalRingSize * sizeof(CongestionSignal) + head);
  const std::uint64_t handovers = 2 * (workers - 1) * ports + ports;
  return signals + handovers * (kHandoverSize * sizeof(HandedPacket) + head);
}

}  // namespace surety
