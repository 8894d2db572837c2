// SPDX-License-Identifier: BSD-3-Clause
// Which worker does what: who receives which queue of which port, and who owns its egress
// (router/README.md, Workers).
//
// The default, from what the devices can do: ports are dealt out to the workers in their order, a port's
// worker owns its egress; a port whose device spreads flows over queues itself (RSS) gets a queue for each
// worker; another one is read by its own worker, which keeps what comes. Where a worker would then receive
// nothing, these readers dispatch packets by flow to all workers: that is worth its price (a packet changes
// caches) for idle hands only. YAML's `worker:` and `receive:` of a port say otherwise.
//
// Packets of one flow, and of one contract, always come to the same worker: where a rule's contracts cover
// more than a flow (`per: source` and the like), packets are spread by what they cover, or not at all.
//
// The contracts of a rule that names no port are met through all customer ports, unless they are `per: flow`
// or `per: vlan`, which are of a port. Customer ports are then planned together: by source or destination,
// each one's owner dispatches, all in the same way (devices do not spread: each has a hash of its own); where
// dispatch cannot tell contracts apart, one worker receives from all of them: the one that a port's
// `receive: {workers: ...}` names, or else the first customer port's owner. Naming a reader makes it the
// others' in the first case too; naming different ones, or several queues without one reader, is refused.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/config.h"
#include "router/dispatch.h"
#include "router/rings/handover.h"
#include "router/signals/congestion_signal.h"

namespace surety {

// What the contracts of packets that come in by `port` allow.
Spread spread_of(const config::Config& config, std::size_t port);

inline constexpr unsigned kSignalRingSize = 256;

using config::kMaxWorkers;

// What a device can do.
struct PortAbility {
  std::uint16_t max_rx_queues = 1;
  bool rss = false;                                  // spreads flows over its queues, symmetrically
  bool rss_source = false, rss_destination = false;  // and by one address alone
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
    std::vector<std::size_t> readers;  // by receive queue; none: there is no such port
    Spread spread = Spread::none;
    bool dispatch = false;  // its only reader hands packets on to all workers
    bool exists() const { return !readers.empty(); }
  };
  std::vector<unsigned> cores;  // by worker
  std::vector<Port> ports;
};

// `cores`: of the workers, at most kMaxWorkers; `abilities`: by port. Throws std::runtime_error, one sentence
// with the fix, where the configuration asks for what a device cannot do, names a core that is no worker, or
// has packets of one contract received by several.
WorkPlan plan_work(const config::Config& config, const std::vector<unsigned>& cores,
                   const std::vector<PortAbility>& abilities);

// The plan for the next configuration of a router that runs: ports that `before` has stay as they are there,
// those that have gone are in it no more, and what is new is dealt out as plan_work() does, or as the ports
// that it shares contracts with. Throws as that does; whether the plan serves() its configuration is for the
// caller to ask.
WorkPlan plan_on(const WorkPlan& before, const config::Config& config,
                 const std::vector<PortAbility>& abilities);

// Whether workers that go by a plan do right by another configuration with the same ports: packets of one
// contract come to one worker, though plan_work() might have dealt out the rest in another way.
bool serves(const WorkPlan& plan, const config::Config& config);

// What the rings between workers (fabric.h) take of DPDK's memory at most, in bytes:
// grows with the square of the workers.
constexpr std::uint64_t fabric_bytes(std::uint64_t workers, std::uint64_t ports) {
  constexpr std::uint64_t head = 512;  // of a ring
  const std::uint64_t signals = workers * (workers - 1) * (kSignalRingSize * sizeof(CongestionSignal) + head);
  const std::uint64_t handovers = 2 * (workers - 1) * ports + ports;
  return signals + handovers * (kHandoverSize * sizeof(HandedPacket) + head);
}

}  // namespace surety
