// SPDX-License-Identifier: BSD-3-Clause
// Opens the fast path to neighbours that have just been resolved only after all earlier packets, so that no
// flow is reordered. Works on batches of neighbours (NeighborArrivals), in steps that do not block the
// control thread:
//
//   waiting   Workers hold packets for the neighbours (PendingPackets). Once all workers do, none punts more.
//   draining  The punt ring's packets go to the kernel or the responder, and their frames for the neighbours
//             return by a TAP mirror or a port. A kernel sends its held packets before it reports a
//             neighbour as resolved.
//   following These frames are in the rings to the workers that own the ports, and are taken from there.
//   opening   Workers send the held packets, and then all others. Once all workers have, the neighbours are
//             ready.
//
// No other order is kept: a customer's packet that bypassed its conditioner is sent as best effort, in
// another queue than marked packets behind it.
#pragma once

#include <rte_ring.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "router/pipeline/burst.h"

namespace surety {

class Routes;
class Forwarding;

class NeighborGate {
 public:
  // The number of frames sent to a port that its worker has not taken yet.
  using Backlog = std::function<std::size_t(PortIndex)>;

  // `punts`: nullptr: there are none. Empty `backlog`: no port can send.
  NeighborGate(Routes& routes, Forwarding& forwarding, rte_ring* punts, Backlog backlog, std::size_t ports)
      : routes_(routes),
        forwarding_(forwarding),
        punts_(punts),
        backlog_(std::move(backlog)),
        sent_(ports),
        sent_before_(ports) {}

  void delivered(unsigned punts) { delivered_ += punts; }  // taken from the ring and handled
  void sent(PortIndex port) { ++sent_[port]; }

  // Called once per round, after punts were delivered and then answers collected; `collected_all`: none is
  // left.
  void step(bool collected_all);
  bool busy() const { return step_ != Step::idle; }

 private:
  enum class Step : std::uint8_t { idle, waiting, draining, following, opening };
  bool over(bool collected_all) const;
  void next();

  Routes& routes_;
  Forwarding& forwarding_;
  rte_ring* punts_;
  Backlog backlog_;
  Step step_ = Step::idle;
  std::uint64_t mark_ = 0;       // set by `waiting` and `opening`
  std::uint64_t delivered_ = 0;  // since the start
  std::uint64_t delivered_before_ = 0;
  std::vector<std::uint64_t> sent_, sent_before_;  // indexed by port, since the start
};

}  // namespace surety
