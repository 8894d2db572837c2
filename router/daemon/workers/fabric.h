// SPDX-License-Identifier: BSD-3-Clause
// The rings between workers: made before they run, and those of a port before it is added.
//
// Each ring has one writer and one reader. With one worker there are only those of the control thread.
#pragma once

#include <memory>
#include <vector>

#include "router/daemon/ports/work_plan.h"
#include "router/pipeline/burst.h"
#include "router/pipeline/handover.h"
#include "router/pipeline/signals/congestion_signal.h"

namespace surety {

// Congestion signals from one worker to another. If the ring is full a signal is lost, as it may be on the
// wire.
using SignalRing = SpscRing<CongestionSignal>;

class Fabric {
 public:
  // Rings bear `name`, at most 12 characters, unique in the process.
  // Throws std::runtime_error without memory.
  Fabric(const std::string& name, const WorkPlan& plan);

  // Makes the rings of a new port, in place of those of a removed port that no worker uses. Throws
  // std::runtime_error without memory.
  void open(const WorkPlan& plan, PortIndex port);

  // The ring from `worker` to the owner of `port`; nullptr: it is the owner.
  EgressHandover* to_owner(std::size_t worker, PortIndex port) const { return owner_[worker][port].get(); }
  // The ring from the reader of `port`, which dispatches, to `worker`; nullptr: `worker` is the reader, or
  // the reader does not dispatch.
  Handover* dispatched(PortIndex port, std::size_t worker) const { return dispatched_[port][worker].get(); }
  // The ring from the control thread to the owner of `port`: frames of the router's own kernel.
  Handover* injected(PortIndex port) const { return injected_[port].get(); }
  // nullptr: from itself.
  SignalRing* signals(std::size_t from, std::size_t to) const { return signals_[from][to].get(); }

 private:
  const std::string name_;
  std::vector<std::vector<std::unique_ptr<EgressHandover>>> owner_;
  std::vector<std::vector<std::unique_ptr<Handover>>> dispatched_;
  std::vector<std::unique_ptr<Handover>> injected_;
  std::vector<std::vector<std::unique_ptr<SignalRing>>> signals_;
};

}  // namespace surety
