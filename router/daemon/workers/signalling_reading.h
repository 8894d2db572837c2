// SPDX-License-Identifier: BSD-3-Clause
// The congestion signalling of one worker with names (reading.h).
#pragma once

#include "router/daemon/workers/signalling_copy.h"
#include "router/operate/observe/reading.h"
#include "router/pipeline/ingress.h"

namespace surety {

// Called by the reading thread; `ingress`: the worker's. Returns queues that have signalled, in order;
// sources by router, port and queue; paths by address and domain, each once.
SignallingReading read_signalling(const SignallingNumbers& numbers, const Ingress& ingress,
                                  const Snapshot& snapshot);

}  // namespace surety
