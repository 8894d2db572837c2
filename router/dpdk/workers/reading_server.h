// SPDX-License-Identifier: BSD-3-Clause
// Hands out the numbers of a worker to other threads: who asks waits; the worker answers between two turns,
// and is not kept from them for longer than a step of the copying takes (signalling_copy.h).
//
// A reading is of one moment, where the law of counters.h holds, but for the rows of which there may be
// thousands (services, filters, aggregates, domains, the congestion signalling), which are of the last turns.
// The worker formats and allocates nothing: names are given by who asks.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>

#include "router/dpdk/ports/clock.h"
#include "router/dpdk/workers/signalling_copy.h"
#include "router/dpdk/workers/sleeper.h"
#include "router/dpdk/workers/tree_copy.h"
#include "router/ingress.h"
#include "router/observe/reading.h"
#include "router/snapshot.h"

namespace surety {

class ReadingServer {
 public:
  // Writes the numbers of the moment, but for the signalling's, into a reading of the snapshot.
  using Fill = std::function<void(Reading&, const Snapshot&)>;
  // Writes some of the rows of which there may be many, from `done` on; true: all are written.
  using FillSome = std::function<bool(Reading&, const Snapshot&, std::size_t& done)>;
  // `blank`: blank_reading(); `ingress`: whose signalling it is, and knows its names.
  // `copy` and `tree`: what is copied in steps before that.
  ReadingServer(Reading blank, const Snapshot& snapshot, const Ingress& ingress, SignallingCopy copy,
                TreeCopy tree, Fill fill, FillSome fill_some);

  // From any thread. Empty when there is no answer within a second. Of a worker that does not
  // run, who asks copies himself.
  std::optional<Reading> read(Sleeper& sleeper, const TscClock& clock);
  // For the thread that turns the worker, without asking.
  const Reading& read_here(Time now);

  // For the worker's thread: it answers from now on, and does not any more.
  void start();
  void stop() { running_.store(false, std::memory_order_release); }
  // Somebody waits.
  bool asked() const {
    return asked_.load(std::memory_order_acquire) != answered_.load(std::memory_order_relaxed);
  }
  // Where somebody waits, between two turns.
  void answer(Time now);
  // A reload. `blank` and `queues` (that may signal): of `snapshot`; become those before. Nobody asks
  // meanwhile.
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
  std::size_t rows_ = 0;           // so many of fill_some_ are written
  std::uint64_t copying_for_ = 0;  // the question
  std::mutex mutex_;               // of those who ask
  std::atomic<std::uint64_t> asked_{0}, answered_{0};
  std::atomic<bool> running_{false};
};

}  // namespace surety
