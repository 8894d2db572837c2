// SPDX-License-Identifier: BSD-3-Clause
// The numbers of a worker's congestion signalling, copied without being felt.
//
// There may be thousands of sources and paths. The worker copies some at a time, between its turns: a step
// takes some microseconds (signalling_copy_bench, all tables full and cold: median 1.3, p99 6, longest 44),
// allocates nothing and formats nothing. What comes or goes between two steps may be missing, or be there
// twice; what stays is there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "router/alpha_clocks.h"
#include "router/signals/signal_gate.h"
#include "router/signals/signal_sender.h"

namespace surety {

struct SignallingNumbers {
  struct Queue {  // of this router
    std::uint8_t port = 0, class_index = 0;
    SignalSender::QueueCounters counters;
  };
  Time at{};  // of the last step
  SignalCounters received{};
  std::vector<Queue> queues;  // all that may signal
  std::vector<SignalGate::Sender> sources;
  std::vector<RemoteAlphaReading> paths;
};

class SignallingCopy {
 public:
  // Rows in a step at most.
  static constexpr std::size_t kStep = 64;

  // What is copied; all of it must outlive this.
  struct Source {
    const SignalSender* sender = nullptr;  // null: this router does not signal
    const SignalGate* gate = nullptr;      // null: it does not listen
    const AlphaClocks& clocks;
    const SignalCounters& received;
  };
  // `queues`: that may signal, their counters zero.
  SignallingCopy(const Source& source, std::vector<SignallingNumbers::Queue> queues);

  // A reload: these are the queues now; `queues` takes those before. Whoever copies begins again.
  void adopt(std::vector<SignallingNumbers::Queue>& queues);
  // For the worker: from the beginning.
  void start();
  // Copies some more. true: all of it is there.
  bool step(Time now);

  const SignallingNumbers& numbers() const { return numbers_; }

 private:
  bool copy_row();

  Source source_;
  SignallingNumbers numbers_;
  std::size_t queues_left_ = 0, sources_left_ = 0, paths_left_ = 0;
};

}  // namespace surety
