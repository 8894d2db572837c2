// SPDX-License-Identifier: BSD-3-Clause
// Routes packets: longest prefix match, next hop, TTL, MTU and the clamp of TCP's MSS. Runs before
// conditioning: alpha depends on the egress queue of a flow, and packets that cannot be forwarded must not
// use up tokens.
#pragma once

#include <vector>

#include "router/pipeline/burst.h"
#include "router/pipeline/filter_stage.h"
#include "router/pipeline/mss_clamp.h"
#include "router/pipeline/packet_disposal.h"
#include "router/pipeline/routes/fib.h"
#include "router/pipeline/routes/neighbors.h"
#include "router/pipeline/snapshot.h"

namespace surety {

class RouteStage {
 public:
  RouteStage(const Snapshot& snapshot, const Fib& fib, const NextHopTable& next_hops, FilterStage& filters,
             PacketDisposal& disposal, const FlowHasher& hasher, bool fragments);

  void adopt(const Snapshot& snapshot);
  // Sets next_hop, narrowness and egress; drops or punts packets that cannot be forwarded. `flows`: the table
  // whose records cache routes (IPv6, whose lookup takes longest); nullptr: the flows are not known.
  void run(Burst& v, PortIndex port, FlowTable* flows);
  // The next hop of a packet on a route: equal-cost ones are chosen by flow, so that no flow is reordered.
  std::uint32_t choose(RouteTarget target, const ParsedPacket& h) const {
    if (target.count == 1) return target.first;
    return NextHopTable::select(target, static_cast<std::uint32_t>(hasher_(h.key)));
  }
  // True once a packet to be fragmented has passed; never reset, since such packets may be held.
  bool oversized() const { return oversized_; }

 private:
  using Targets = std::array<std::uint64_t, kBurst>;  // RouteTarget::encode()
  void look_up(Burst& v, FlowTable* flows) const;
  void look_up_mixed(Burst& v, FlowTable* flows) const;
  // Looks up n packets, at the places `at` of `v`.
  template <class Places>
  void look_up6(Burst& v, const Places& at, unsigned n, FlowTable* flows) const;
  template <class Places>
  void find6(Burst& v, const Places& at, unsigned n) const;
  template <class Places>
  void settle(Burst& v, const Places& at, unsigned n, const Targets& targets) const;
  bool divert(Burst& v, std::size_t i, PortIndex port);
  void lower_mtu();

  const Fib& fib_;
  const NextHopTable& next_hops_;
  FilterStage& filters_;  // for packets that leave by way of the control thread
  PacketDisposal& disposal_;
  FlowHasher hasher_;
  MssClamp mss_;
  const InterfaceRecord* interfaces_ = nullptr;  // the snapshot's
  std::array<std::uint16_t, kMaxPorts> mtu_{};
  std::uint16_t least_mtu_ = UINT16_MAX;  // the next hops'
  bool fragments_, oversized_ = false;
};

}  // namespace surety
