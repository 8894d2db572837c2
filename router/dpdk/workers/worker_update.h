// SPDX-License-Identifier: BSD-3-Clause
// What a worker needs to go on by another snapshot: all that has to be allocated, made by the control thread.
//
// The worker puts it to work between two turns and leaves in it what it does not need any more.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "router/counters.h"
#include "router/dpdk/workers/receiver.h"
#include "router/dpdk/workers/signalling_copy.h"
#include "router/dpdk/workers/transmitter.h"
#include "router/egress.h"
#include "router/observe/reading.h"
#include "router/snapshot.h"

namespace surety {

struct WorkerUpdate {
  const Snapshot& snapshot;
  std::vector<ServiceCounters> services;
  std::vector<std::uint64_t> filters;  // by the order of Snapshot::filters
  WorkPlan plan;
  Receiver::Sources sources;
  Transmitter::Update egresses;
  std::vector<Outlet> outlets;                   // by port, of those that come (Worker::connect())
  Reading reading;                               // blank
  std::vector<SignallingNumbers::Queue> queues;  // that may signal
  std::vector<KernelPeer> peers;                 // by port
  std::uint64_t cycles = 0;                      // of the TSC: what taking it over has cost the worker
};

}  // namespace surety
