// SPDX-License-Identifier: BSD-3-Clause
// Runs a function of another thread on the owner of some state, between two of its turns, while the caller
// waits. The function must be short, and must not allocate if the owner is a worker. A long one is run in
// steps, one between each two turns, so that a turn is delayed by one step at most.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <thread>

namespace surety {

class RemoteCall {
 public:
  using What = std::function<void()>;
  using Step = std::function<bool()>;  // true: it was the last one

  // Thread-safe; `wake`: wakes the owner if it sleeps. false: not done within `patience`, and will not be. If
  // the owner does not run, the calling thread runs the function itself.
  template <class Wake>
  bool run(const What& what, Wake&& wake, std::chrono::milliseconds patience = std::chrono::seconds(1)) {
    return run_in_steps([&what] { return what(), true; }, wake, patience);
  }
  // Runs a function in steps, all of them within `patience`; false: some may be done.
  template <class Wake>
  bool run_in_steps(const Step& step, Wake&& wake,
                    std::chrono::milliseconds patience = std::chrono::seconds(1)) {
    const std::scoped_lock lock(mutex_);
    if (!running_.load(std::memory_order_acquire)) return run_here(step);
    done_.store(false, std::memory_order_relaxed);
    waiting_.store(&step, std::memory_order_release);
    wake();
    const auto until = std::chrono::steady_clock::now() + patience;
    while (!done_.load(std::memory_order_acquire)) {
      const bool stopped = !running_.load(std::memory_order_acquire);
      const Step* mine = &step;
      if ((stopped || std::chrono::steady_clock::now() > until) &&
          waiting_.compare_exchange_strong(mine, nullptr, std::memory_order_acq_rel))
        return stopped && run_here(step);
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    return true;
  }

  // Called by the owner: it serves calls after start() and until stop().
  void start() {
    const std::scoped_lock lock(mutex_);  // waits for callers that run their function themselves
    running_.store(true, std::memory_order_release);
  }
  void stop() { running_.store(false, std::memory_order_release); }
  bool running() const { return running_.load(std::memory_order_acquire); }
  bool wanted() const { return waiting_.load(std::memory_order_relaxed) != nullptr; }
  void serve() {
    const Step* const step = waiting_.exchange(nullptr, std::memory_order_acq_rel);
    if (step == nullptr) return;
    if ((*step)())
      done_.store(true, std::memory_order_release);
    else
      waiting_.store(step, std::memory_order_release);
  }

 private:
  static bool run_here(const Step& step) {
    while (!step()) {
    }
    return true;
  }

  std::mutex mutex_;                           // serialises callers
  std::atomic<const Step*> waiting_{nullptr};  // nullptr also while a step runs
  std::atomic<bool> done_{true}, running_{false};
};

}  // namespace surety
