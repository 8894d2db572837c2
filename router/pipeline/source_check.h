// SPDX-License-Identifier: BSD-3-Clause
// Checks that a packet arrives from the direction of its source: ingress filtering by the FIB (RFC 2827, RFC
// 3704).
//
//   strict  a route of the source leads back by the packet's ingress interface
//   loose   some route leads to it
//   off     no check
//
// A source that is an address of the router itself, or has no route but a blackhole, fails both. Checked when
// a flow is new and when it is classified again after a reload; for each packet without a flow record
// (classify_stage.h).
#pragma once

#include "router/pipeline/burst.h"
#include "router/pipeline/packet_disposal.h"
#include "router/pipeline/routes/fib.h"
#include "router/pipeline/routes/neighbors.h"
#include "router/pipeline/snapshot.h"

namespace surety {

class SourceCheck {
 public:
  SourceCheck(const Snapshot& snapshot, const Fib& fib, const NextHopTable& next_hops)
      : snapshot_(&snapshot), fib_(fib), next_hops_(next_hops) {}

  void adopt(const Snapshot& snapshot) { snapshot_ = &snapshot; }
  bool asks(PortIndex port) const { return snapshot_->interfaces->checks_sources(port); }
  bool accepts(const ParsedPacket& packet) const;
  // Drops packets that accepts() refuses.
  void run(Burst& v, PortIndex port, PacketDisposal& disposal) const;

 private:
  using Mode = config::Port::SourceCheck;

  const Snapshot* snapshot_;
  const Fib& fib_;
  const NextHopTable& next_hops_;
};

}  // namespace surety
