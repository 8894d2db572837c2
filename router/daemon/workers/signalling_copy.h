// SPDX-License-Identifier: BSD-3-Clause
// Copies the numbers of a worker's congestion signalling without delaying packets.
//
// There may be thousands of sources and paths. The worker copies a few at a time, between its turns: a step
// takes a few microseconds (signalling_copy_bench, all tables full and cold: median 1.3, p99 6, longest 44),
// allocates nothing and formats nothing. Rows added or removed between two steps may be missing or
// duplicated; all others are complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "router/pipeline/alpha_clocks.h"
#include "router/pipeline/signals/signal_gate.h"
#include "router/pipeline/signals/signal_sender.h"

namespace surety {

struct SignallingNumbers {
  struct Queue {  // a queue of this router
    std::uint8_t port = 0, class_index = 0;
    SignalSender::QueueCounters counters;
  };
  Time at{};  // time of the last step
  SignalCounters received{};
  std::vector<Queue> queues;  // all queues that may signal
  std::vector<SignalGate::Sender> sources;
  std::vector<RemoteAlphaReading> paths;
};

class SignallingCopy {
 public:
  // The most rows in a step.
  static constexpr std::size_t kStep = 64;

  // The sources of the copy; all of them must outlive this object.
  struct Source {
    const SignalSender* sender = nullptr;  // nullptr: this router does not signal
    const SignalGate* gate = nullptr;      // nullptr: it receives no signals
    const AlphaClocks& clocks;
    const SignalCounters& received;
  };
  // `queues`: those that may signal, with counters zero.
  SignallingCopy(const Source& source, std::vector<SignallingNumbers::Queue> queues);

  // Applies a reload: exchanges `queues` for the previous ones. A copy in progress starts again.
  void adopt(std::vector<SignallingNumbers::Queue>& queues);
  // Called by the worker: starts a copy.
  void start();
  // Copies a few more rows. true: complete.
  bool step(Time now);

  const SignallingNumbers& numbers() const { return numbers_; }

 private:
  bool copy_row();

  Source source_;
  SignallingNumbers numbers_;
  std::size_t queues_left_ = 0, sources_left_ = 0, paths_left_ = 0;
};

}  // namespace surety
