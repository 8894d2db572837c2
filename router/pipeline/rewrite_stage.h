// SPDX-License-Identifier: BSD-3-Clause
// The last stage of the ingress: DSCP, TTL, Ethernet header. Its output is an untagged frame for the next
// hop; the mbuf has the interface whose tags are added later (egress_tags.h).
#pragma once

#include <array>
#include <span>

#include "config/address.h"
#include "router/pipeline/burst.h"
#include "router/pipeline/packet_disposal.h"
#include "router/pipeline/pending_packets.h"
#include "router/pipeline/routes/neighbors.h"

namespace surety {

class RewriteStage {
 public:
  // `macs`: the ports' own, by index. `pending`: gets packets that must not leave yet. `worker`: index of the
  // worker, for PacketOwner.
  RewriteStage(const NextHopTable& next_hops, std::span<const MacAddress> macs, PacketDisposal& disposal,
               PendingPackets& pending, std::size_t worker = 0);

  void adopt(std::span<const MacAddress> macs);

  // Rewrites all packets, and writes the owner into each. The next hop is read again: it may have been
  // removed while the packet was held, or within the burst: drop `neighbor_unresolved`, on the ingress port
  // in the mbuf.
  void run(Burst& v);

 private:
  void rewrite(Burst& v, std::size_t i, NextHopWord hop) const;  // without an interface's tags
  void rewrite(Burst& v, std::size_t i, const NextHopTable::Whole& hop) const;
  bool rewrite_rest(Burst& v, std::size_t i);
  bool delay(Burst& v, std::size_t i, const NextHopTable::Whole& hop);

  const NextHopTable& next_hops_;
  std::array<std::array<std::uint64_t, 2>, kMaxPorts> source_type_{};  // indexed by egress port and family
  PacketDisposal& disposal_;
  PendingPackets& pending_;
  const std::uint32_t owner_;  // tag of its packets: PacketOwner::base()
};

}  // namespace surety
