// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/workers/signalling_copy.h"

#include <algorithm>

namespace surety {

SignallingCopy::SignallingCopy(const Source& source, std::vector<SignallingNumbers::Queue> queues)
    : source_(source) {
  numbers_.queues = std::move(queues);
  numbers_.sources.reserve(source_.gate != nullptr ? SignalGate::kMaxSenders : 0);
  numbers_.paths.reserve(source_.clocks.remote_capacity());
}

void SignallingCopy::adopt(std::vector<SignallingNumbers::Queue>& queues) {
  numbers_.queues.swap(queues);
  start();
}

void SignallingCopy::start() {
  numbers_.sources.clear();
  numbers_.paths.clear();
  queues_left_ = source_.sender != nullptr ? numbers_.queues.size() : 0;
  sources_left_ = source_.gate != nullptr ? source_.gate->sender_count() : 0;
  paths_left_ = source_.clocks.remote_count();
}

bool SignallingCopy::step(Time now) {
  for (std::size_t rows = 0; rows < kStep; ++rows)
    if (!copy_row()) {
      numbers_.received = source_.received;
      numbers_.at = now;
      return true;
    }
  return false;
}

// false: there is none left.
bool SignallingCopy::copy_row() {
  if (queues_left_ > 0) {
    SignallingNumbers::Queue& q = numbers_.queues[--queues_left_];
    q.counters = source_.sender->counters(q.port, q.class_index);
    return true;
  }
  if (source_.gate != nullptr) sources_left_ = std::min(sources_left_, source_.gate->sender_count());
  if (sources_left_ > 0) {
    numbers_.sources.push_back(source_.gate->sender(--sources_left_));
    return true;
  }
  paths_left_ = std::min(paths_left_, source_.clocks.remote_count());
  if (paths_left_ == 0) return false;
  numbers_.paths.push_back(source_.clocks.remote(--paths_left_));
  return true;
}

}  // namespace surety
