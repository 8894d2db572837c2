// SPDX-License-Identifier: BSD-3-Clause
// The congestion signalling of one worker with names (reading.h).
#pragma once

#include "router/dpdk/workers/signalling_copy.h"
#include "router/ingress.h"
#include "router/observe/reading.h"

namespace surety {

// For the thread that asked; `ingress`: the worker's. Queues that have signalled, in their order; sources by
// router, port and queue; paths by address and domain, each once.
SignallingReading read_signalling(const SignallingNumbers& numbers, const Ingress& ingress,
                                  const Snapshot& snapshot);

}  // namespace surety
