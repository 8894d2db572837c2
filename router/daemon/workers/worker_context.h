// SPDX-License-Identifier: BSD-3-Clause
// The environment of the parts of one worker: its place in the plan, the devices, and its counters.
#pragma once

#include <memory>
#include <span>

#include "router/daemon/ports/port.h"
#include "router/daemon/ports/work_plan.h"
#include "router/daemon/workers/shared.h"
#include "router/pipeline/counters.h"
#include "router/pipeline/interfaces/interface_counters.h"
#include "router/pipeline/packet_disposal.h"

namespace surety {

// The members must outlive the parts.
struct WorkerContext {
  std::span<const std::unique_ptr<DpdkPort>> ports;
  const WorkPlan& plan;
  std::size_t index;                 // number of the worker in the plan
  const Fabric* fabric;              // nullptr: a single worker without a control thread
  std::span<PortCounters> counters;  // indexed by port
  PacketDisposal& disposal;
  StageMeter& meter;
  InterfaceCounters& interfaces;
};

}  // namespace surety
