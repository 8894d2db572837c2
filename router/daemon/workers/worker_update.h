// SPDX-License-Identifier: BSD-3-Clause
// The memory that a worker needs to adopt another snapshot, allocated by the control thread.
//
// The worker adopts it between two turns and leaves its previous memory in it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "router/daemon/workers/receiver.h"
#include "router/daemon/workers/signalling_copy.h"
#include "router/daemon/workers/transmitter.h"
#include "router/operate/observe/reading.h"
#include "router/pipeline/counters.h"
#include "router/pipeline/egress.h"
#include "router/pipeline/snapshot.h"

namespace surety {

struct WorkerUpdate {
  const Snapshot& snapshot;
  std::vector<ServiceCounters> services;
  std::vector<std::uint64_t> filters;  // in the order of Snapshot::filters
  WorkPlan plan;
  Receiver::Sources sources;
  Transmitter::Update egresses;
  std::vector<Outlet> outlets;                   // indexed by port; set for new ports (Worker::connect())
  Reading reading;                               // blank
  std::vector<SignallingNumbers::Queue> queues;  // queues that may signal
  std::vector<KernelPeer> peers;                 // indexed by port
  std::uint64_t cycles = 0;                      // TSC cycles that the worker needed for the adoption
};

}  // namespace surety
