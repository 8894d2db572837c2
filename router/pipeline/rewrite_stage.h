// SPDX-License-Identifier: BSD-3-Clause
// The last stage of the ingress: DSCP, TTL, Ethernet header. Its output is an untagged frame for the next
// hop; the mbuf has the interface whose tags are added later (egress_tags.h). Packets for a next hop that is
// not open yet wait in PendingPackets.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "config/address.h"
#include "router/pipeline/burst.h"
#include "router/pipeline/counters.h"
#include "router/pipeline/packet_disposal.h"
#include "router/pipeline/routes/neighbors.h"

namespace surety {

// Holds packets for a next hop that has just been resolved while earlier packets are still on their way
// outside the pipeline: in the ring to the control thread, in a kernel, in the ring back to the port. The
// held packets are conditioned and rewritten, and are enqueued after the earlier ones, so that no flow is
// reordered (NextHopEntry::State::waiting and opening; NeighborGate decides when).
//
// Bounded per ingress port; further packets are dropped.
class PendingPackets {
 public:
  static constexpr std::uint32_t kPerPort = 128;

  PendingPackets(const NextHopTable& next_hops, std::span<PortCounters> ports, PacketDisposal& disposal)
      : next_hops_(next_hops), ports_(ports), disposal_(disposal) {
    packets_.reserve(ports.size() * kPerPort);
  }

  // True if a packet for a next hop that is known and not ready has to wait; `hop` as its stage has read it.
  bool must_wait(std::uint32_t next_hop, NextHopWord hop) const;
  // Keeps packet `i`, or drops it.
  void hold(const Burst& v, std::size_t i);
  // Called once per turn, before packets are visited; true: next hops have been opened since.
  bool due();
  // Called after due(): moves packets of opened next hops into `v` (empty when called); drops those whose
  // next hop was removed. True: `v` is full, and there may be more.
  bool release(Burst& v);
  // Releases all packets; for the end of the process, when no next hop is opened.
  void stop() { stopped_ = true; }

  std::uint32_t size() const { return static_cast<std::uint32_t>(packets_.size()); }
  void discard();  // frees all

 private:
  struct Pending {
    rte_mbuf* mbuf;
    std::uint32_t next_hop;
    std::uint16_t length;  // bytes of the IP packet
    PortIndex egress;
    Precedence precedence;
  };
  bool waits(const Pending& p) const;
  void leave(const Pending& p);

  const NextHopTable& next_hops_;
  std::span<PortCounters> ports_;
  PacketDisposal& disposal_;
  std::vector<Pending> packets_;  // the oldest first
  std::array<std::uint32_t, kMaxPorts> held_{};
  std::uint32_t openings_ = 0;  // openings handled so far
  bool stopped_ = false;
};

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
  void rewrite(Burst& v, std::size_t i, NextHopTable::Whole hop) const;
  bool rewrite_rest(Burst& v, std::size_t i);
  bool delay(Burst& v, std::size_t i, NextHopTable::Whole hop);

  const NextHopTable& next_hops_;
  std::array<std::array<std::uint64_t, 2>, kMaxPorts> source_type_{};  // indexed by egress port and family
  PacketDisposal& disposal_;
  PendingPackets& pending_;
  const std::uint32_t owner_;  // tag of its packets: PacketOwner::base()
};

}  // namespace surety
