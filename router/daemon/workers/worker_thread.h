// SPDX-License-Identifier: BSD-3-Clause
// The thread that runs a worker, as other threads see it: its number, its reports to RCU, the functions that
// it runs for them, and their request to stop.
//
// Between begin() and end() the thread holds references to forwarding tables and serves calls(); outside, RCU
// does not wait for it, and callers run their functions themselves.
#pragma once

#include <rte_rcu_qsbr.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>

#include "conditioners/units.h"
#include "router/daemon/workers/remote_call.h"

namespace surety {

class WorkerThread {
 public:
  // Called before begin(): `rcu` gets the reports, as of thread `index`. Without it there are none.
  void report_to(rte_rcu_qsbr* rcu, unsigned index) {
    rcu_ = rcu;
    index_ = index;
    rte_rcu_qsbr_thread_register(rcu, index);
  }

  // Called by the thread.
  void begin() {
    return_online();
    calls_.start();
    id_.store(::gettid(), std::memory_order_relaxed);
  }
  void end() {
    go_offline();
    calls_.stop();
    id_.store(0, std::memory_order_relaxed);
  }
  // Reports that no reference is held; called once per turn.
  void quiesce() const {
    if (rcu_ != nullptr) rte_rcu_qsbr_quiescent(rcu_, index_);
  }
  // Called around a sleep: changes of routes do not wait for it.
  void go_offline() const {
    if (rcu_ != nullptr) rte_rcu_qsbr_thread_offline(rcu_, index_);
  }
  void return_online() const {
    if (rcu_ != nullptr) rte_rcu_qsbr_thread_online(rcu_, index_);
  }

  // Thread-safe: requests the end, with a drain of at most `drain`.
  void stop(Duration drain) {
    drain_.store(drain, std::memory_order_relaxed);
    stop_.store(true, std::memory_order_release);
  }
  bool stopping() const { return stop_.load(std::memory_order_acquire); }
  // The longest drain; the maximum before stop().
  Duration drain() const { return drain_.load(std::memory_order_relaxed); }
  // 0: no thread runs the worker.
  pid_t id() const { return id_.load(std::memory_order_relaxed); }

  RemoteCall& calls() { return calls_; }
  const RemoteCall& calls() const { return calls_; }

 private:
  rte_rcu_qsbr* rcu_ = nullptr;
  unsigned index_ = 0;
  RemoteCall calls_;
  std::atomic<pid_t> id_{0};
  std::atomic<Duration> drain_{Duration::max()};
  std::atomic<bool> stop_{false};
};

}  // namespace surety
