// SPDX-License-Identifier: BSD-3-Clause
// How a worker that stops comes to its end: not before what others still have for it.
//
// Three stages, one after the other, each announced when what it ends is in the rings: whoever reads the
// announcement and finds a ring empty afterwards knows that nothing more comes by it. Signals are not waited
// for: loss of signals is safe.
#include <algorithm>

#include "router/dpdk/workers/worker.h"

namespace surety {

bool Worker::drained() {
  advance_drain();
  if (drain_.load(std::memory_order_relaxed) != Drain::hands_over_no_more) return false;
  return all_have(Drain::hands_over_no_more) && sent();
}

void Worker::advance_drain() {
  if (receiving_) return;
  if (drain_.load(std::memory_order_relaxed) == Drain::receives)
    drain_.store(Drain::dispatches_no_more, std::memory_order_release);
  if (!all_have(Drain::dispatches_no_more) || ingress_->held() > 0) return;
  for (const Source& s : sources_)
    if (s.dispatched != nullptr && !s.dispatched->empty()) return;
  drain_.store(Drain::hands_over_no_more, std::memory_order_release);
}

bool Worker::all_have(Drain stage) const {
  return std::all_of(peers_.begin(), peers_.end(), [stage](const Peer& p) {
    return p.worker->drain_.load(std::memory_order_acquire) >= stage;
  });
}

// Nothing is queued at the ports of this worker, or on its way to them.
bool Worker::sent() const {
  for (const PortIndex p : owned_) {
    if (transmit_[p].begin != transmit_[p].end || egresses_[p]->depth() > 0) return false;
    for (const Peer& peer : peers_)
      if (!fabric_->to_owner(peer.worker->index_, p)->empty()) return false;
  }
  return true;
}

}  // namespace surety
