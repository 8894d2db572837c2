// SPDX-License-Identifier: BSD-3-Clause
// Copies the numbers of a worker for other threads, between its turns, in steps (remote_call.h,
// signalling_copy.h).
//
// A reading is a snapshot of one moment, at which the law of counters.h holds, except for rows of which there
// may be thousands (services, filters, aggregates, domains, the congestion signalling), which are from the
// last turns. The worker formats and allocates nothing: the calling thread sets the names.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>

#include "router/daemon/ports/clock.h"
#include "router/daemon/workers/remote_call.h"
#include "router/daemon/workers/signalling_copy.h"
#include "router/daemon/workers/sleeper.h"
#include "router/daemon/workers/worker_reading.h"
#include "router/operate/observe/reading.h"
#include "router/pipeline/ingress.h"
#include "router/pipeline/snapshot.h"

namespace surety {

// The congestion signalling of one worker with names (reading.h).

// Called by the reading thread; `ingress`: the worker's. Returns queues that have signalled, in order;
// sources by router, port and queue; paths by address and domain, each once.
SignallingReading read_signalling(const SignallingNumbers& numbers, const Ingress& ingress,
                                  const Snapshot& snapshot);

class ReadingServer {
 public:
  static constexpr std::chrono::seconds kPatience{4};

  // Writes the current numbers, except the signalling's, into a reading of the snapshot.
  using Fill = std::function<void(Reading&, const Snapshot&)>;
  // Writes a few of the numerous rows, from `done` on; true: all are written.
  using FillSome = std::function<bool(Reading&, const Snapshot&, std::size_t& done)>;
  // `blank`: blank_reading(); `ingress`: source of the signalling and of its names. `copy` and `tree`: copied
  // in steps before `fill`.
  ReadingServer(Reading blank, const Snapshot& snapshot, const Ingress& ingress, SignallingCopy copy,
                TreeCopy tree, Fill fill, FillSome fill_some);

  // Thread-safe; `calls`: the worker's. nullopt: there is no answer within kPatience.
  std::optional<Reading> read(RemoteCall& calls, Sleeper& sleeper, const TscClock& clock);
  // Called by the thread that runs the worker's turns; does not wait.
  const Reading& read_here(Time now);

  // Applies a reload. `blank` and `queues` (those that may signal) belong to `snapshot`, and are exchanged
  // for the previous ones. No thread reads meanwhile.
  void adopt(Reading& blank, std::vector<SignallingNumbers::Queue>& queues, const Snapshot& snapshot);

 private:
  void begin();
  bool step(Time now);
  const Reading& named();

  const Ingress& ingress_;
  const Snapshot* snapshot_;
  Fill fill_;
  FillSome fill_some_;
  SignallingCopy signalling_;
  TreeCopy tree_;
  Reading reading_;
  std::size_t rows_ = 0;  // rows of fill_some_ written so far
  std::mutex mutex_;      // serialises callers of read(), which name the rows after the copy
};

}  // namespace surety
