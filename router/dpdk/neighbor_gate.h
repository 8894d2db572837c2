// SPDX-License-Identifier: BSD-3-Clause
// When packets may go straight to a neighbour that has just become known: not before those that came while it
// was not, or a flow would be reordered. By batches of neighbours (NeighborArrivals), each step waiting for
// the one before without holding up the control thread:
//
//   waiting   Workers keep packets for it (PendingPackets). Once all have seen that, none hands up more.
//   draining  What is in the punt ring goes to the kernel or the responder, and what these send to them by a
//             twin or a port comes back. A kernel has sent what it held before it says that it knows a
//             neighbour.
//   following That is in the rings to the workers that own the ports, and they take it.
//   opening   Workers send what they kept, and then all that comes. Once all have, it is ready like others.
//
// Only this order is kept: a packet of a customer that went past its conditioner goes as best effort, and in
// another queue than those behind it where these are marked.
#pragma once

#include <rte_ring.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "router/dpdk/workers/forwarding.h"
#include "router/routes/routes.h"
#include "router/vector.h"

namespace surety {

class NeighborGate {
 public:
  // How many of the frames sent to a port its worker has not taken yet.
  using Backlog = std::function<std::size_t(PortIndex)>;

  // `punts`: null: there are none. No `backlog`: nobody can send.
  NeighborGate(Routes& routes, Forwarding& forwarding, rte_ring* punts, Backlog backlog, std::size_t ports)
      : routes_(routes),
        forwarding_(forwarding),
        punts_(punts),
        backlog_(std::move(backlog)),
        sent_(ports),
        sent_before_(ports) {}

  void delivered(unsigned punts) { delivered_ += punts; }  // taken from the ring and dealt with
  void sent(PortIndex port) { ++sent_[port]; }

  // Once per round, after punts were delivered and then answers collected;
  // `collected_all`: there are no more.
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
  std::uint64_t mark_ = 0;       // of waiting and opening
  std::uint64_t delivered_ = 0;  // since the start
  std::uint64_t delivered_before_ = 0;
  std::vector<std::uint64_t> sent_, sent_before_;  // by port, since the start
};

}  // namespace surety
