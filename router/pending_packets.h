// SPDX-License-Identifier: BSD-3-Clause
// Packets for a next hop that has just become known, while those that came before it did are still on their
// way past the pipeline: in the ring to the control thread, at a kernel, in the ring back to the port. They
// are conditioned and written already, and go to their queues when those have got there, so that no flow is
// reordered (NextHopEntry::State::waiting and opening; NeighborGate says when).
//
// Bounded, a part for each port that they came by; who finds no room is dropped.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "router/counters.h"
#include "router/packet_disposal.h"
#include "router/routes/neighbors.h"
#include "router/vector.h"

namespace surety {

class PendingPackets {
 public:
  static constexpr std::uint32_t kPerPort = 128;

  PendingPackets(const NextHopTable& next_hops, std::span<PortCounters> ports, PacketDisposal& disposal)
      : next_hops_(next_hops), ports_(ports), disposal_(disposal) {
    packets_.reserve(ports.size() * kPerPort);
  }

  // Whether a packet for a next hop that is known and not ready has to wait; `hop` as its stage has read it.
  bool must_wait(std::uint32_t next_hop, NextHopWord hop) const;
  // Keeps packet `i`, or drops it.
  void hold(const Vector& v, std::size_t i);
  // Once per turn, before packets are looked at: next hops have been opened since.
  bool due();
  // After that: moves packets that go on now into `v` (empty when called), counted as forwarded; drops those
  // whose next hop has gone. True: `v` is full, and there may be more.
  bool release(Vector& v);
  // Nobody opens next hops any more: the end of the process. All go on.
  void stop() { stopped_ = true; }

  std::uint32_t size() const { return static_cast<std::uint32_t>(packets_.size()); }
  void discard();  // frees all

 private:
  struct Pending {
    rte_mbuf* mbuf;
    std::uint32_t next_hop;
    std::uint16_t length;  // of the IP packet
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
  std::uint32_t openings_ = 0;  // seen
  bool stopped_ = false;
};

}  // namespace surety
