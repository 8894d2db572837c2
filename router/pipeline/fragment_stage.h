// SPDX-License-Identifier: BSD-3-Clause
// Fragments IPv4 packets without DF that are larger than the MTU of their egress port or their route: behind
// the conditioner, so that fragments are marked, queued and shaped as all packets.
//
// This stage is not on the fast path: it costs nothing while there are no such packets.
#pragma once

#include <rte_mbuf.h>

#include <array>
#include <span>
#include <vector>

#include "router/pipeline/burst.h"
#include "router/pipeline/packet_disposal.h"
#include "router/pipeline/routes/neighbors.h"
#include "router/pipeline/snapshot.h"

namespace surety {

class FragmentStage {
 public:
  // `pool`: buffers for the fragments; nullptr: fragmentation is off. `next_hops`: nullptr: no route has an
  // MTU of its own.
  FragmentStage(const Snapshot& snapshot, std::span<PortCounters> ports, PacketDisposal& disposal,
                rte_mempool* pool, const NextHopTable* next_hops = nullptr);

  void adopt(const Snapshot& snapshot) { interfaces_ = snapshot.interfaces->data(); }
  // Moves oversized packets out of `v`, whose frames are ready to leave; those with DF are dropped as
  // `mtu_exceeded`.
  void take(Burst& v);
  // Puts the fragments of the next packet taken into `v`, in order, each with the packet's egress and
  // precedence. False: there is none. Without buffers for all fragments the packet is dropped as
  // `no_fragment_buffer`.
  bool next(Burst& v);

 private:
  std::uint16_t mtu(const Burst& v, std::size_t i) const;
  struct Original {
    rte_mbuf* mbuf;
    std::uint16_t length, mtu;
    PortIndex egress;
    Precedence precedence;
  };
  bool cut(const Original& w, Burst& v);

  std::span<PortCounters> ports_;
  PacketDisposal& disposal_;
  rte_mempool* pool_;
  const NextHopTable* next_hops_;
  const InterfaceRecord* interfaces_ = nullptr;  // the snapshot's
  std::array<Original, kBurst> taken_;
  std::size_t count_ = 0, done_ = 0;
};

}  // namespace surety
