// SPDX-License-Identifier: BSD-3-Clause
// What the parts of one worker have in common: its place in the plan, the devices, and where it counts.
#pragma once

#include <memory>
#include <span>

#include "router/counters.h"
#include "router/dpdk/ports/port.h"
#include "router/dpdk/ports/work_plan.h"
#include "router/dpdk/workers/fabric.h"
#include "router/interfaces/interface_counters.h"
#include "router/packet_disposal.h"

namespace surety {

// All of it must outlive them.
struct WorkerContext {
  std::span<const std::unique_ptr<DpdkPort>> ports;
  const WorkPlan& plan;
  std::size_t index;     // of the worker, in the plan
  const Fabric* fabric;  // null: it is the only one, and has nothing to do with the control thread
  std::span<PortCounters> counters;  // by port
  PacketDisposal& disposal;
  StageMeter& meter;
  InterfaceCounters& interfaces;
};

}  // namespace surety
