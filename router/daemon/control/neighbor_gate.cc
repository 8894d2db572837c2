// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/control/neighbor_gate.h"

#include "router/daemon/workers/shared.h"
#include "router/pipeline/routes/routes.h"

namespace surety {

void NeighborGate::step(bool collected_all) {
  while (over(collected_all)) next();
}

bool NeighborGate::over(bool collected_all) const {
  switch (step_) {
    case Step::idle:
      return routes_.collect_arrivals();
    case Step::waiting:
    case Step::opening:
      return forwarding_.seen(mark_);
    case Step::draining:
      return delivered_ >= delivered_before_ && collected_all;
    case Step::following:
      for (std::size_t p = 0; backlog_ && p < sent_.size(); ++p)
        if (sent_[p] - backlog_(static_cast<PortIndex>(p)) < sent_before_[p]) return false;
      return true;
  }
  return false;
}

void NeighborGate::next() {
  switch (step_) {
    case Step::idle:
      mark_ = forwarding_.mark();
      step_ = Step::waiting;
      return;
    case Step::waiting:
      delivered_before_ = delivered_ + (punts_ != nullptr ? rte_ring_count(punts_) : 0);
      step_ = Step::draining;
      return;
    case Step::draining:
      sent_before_ = sent_;
      step_ = Step::following;
      return;
    case Step::following:
      routes_.advance_arrivals();
      forwarding_.announce_opening();
      mark_ = forwarding_.mark();
      step_ = Step::opening;
      return;
    case Step::opening:
      routes_.advance_arrivals();
      step_ = Step::idle;
      return;
  }
}

}  // namespace surety
