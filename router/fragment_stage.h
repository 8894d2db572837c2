// SPDX-License-Identifier: BSD-3-Clause
// IPv4 packets larger than the MTU of the port that they leave by, without DF: cut behind the conditioner, so
// that they are marked, queued and shaped as everything else.
//
// Beside the fast path: who never meets such a packet pays nothing.
#pragma once

#include <rte_mbuf.h>

#include <array>
#include <span>
#include <vector>

#include "router/packet_disposal.h"
#include "router/snapshot.h"
#include "router/vector.h"

namespace surety {

class FragmentStage {
 public:
  // `pool`: for the fragments; null: none can be made.
  FragmentStage(const Snapshot& snapshot, std::span<PortCounters> ports, PacketDisposal& disposal,
                rte_mempool* pool);

  void adopt(const Snapshot& snapshot) { interfaces_ = snapshot.interfaces->data(); }
  // Takes what is too large out of `v`, whose frames are ready to leave; what of it must not be cut is a drop
  // `mtu_exceeded`.
  void take(Vector& v);
  // Puts the fragments of the next one that was taken into `v`, in order, each for the same egress with the
  // same precedence. False: there is none. Without buffers for all: drop `no_fragment_buffer`.
  bool next(Vector& v);

 private:
  std::uint16_t mtu(const rte_mbuf* m, PortIndex egress) const;
  struct Whole {
    rte_mbuf* mbuf;
    std::uint16_t length;
    PortIndex egress;
    Precedence precedence;
  };
  bool cut(const Whole& w, Vector& v);

  std::span<PortCounters> ports_;
  PacketDisposal& disposal_;
  rte_mempool* pool_;
  const InterfaceRecord* interfaces_ = nullptr;  // of the snapshot
  std::array<Whole, kVector> taken_;
  std::size_t count_ = 0, done_ = 0;
};

}  // namespace surety
