// SPDX-License-Identifier: BSD-3-Clause
// Keeps workers out of a device while another thread stops it, starts it, or frees its memory.
//
// A lane is one queue in one direction, used by one thread. Passing costs one atomic exchange per burst; a
// worker never waits: while the gate is shut it receives nothing and has no room to transmit.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>

namespace surety {

class BurstGate {
 public:
  static constexpr std::size_t kLanes = 17;  // 16 receive queues, and the transmit queue

  // Constructed shut.
  BurstGate() {
    for (auto& l : lanes_) l.taken.store(true, std::memory_order_relaxed);
  }

  // Called by the lane's thread. false: do not enter. After true, call leave().
  bool enter(std::size_t lane) { return !lanes_[lane].taken.exchange(true, std::memory_order_acquire); }
  void leave(std::size_t lane) { lanes_[lane].taken.store(false, std::memory_order_release); }

  // Called by one other thread at a time; returns when no worker is inside; a burst takes microseconds. The
  // workers' accesses inside happen before; accesses after open() see what this thread did in between.
  void shut() {
    if (!std::exchange(open_, false)) return;
    for (auto& l : lanes_)
      while (l.taken.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  }
  void open() {
    if (std::exchange(open_, true)) return;
    for (auto& l : lanes_) l.taken.store(false, std::memory_order_release);
  }

 private:
  struct alignas(64) Lane {
    std::atomic<bool> taken;
  };
  std::array<Lane, kLanes> lanes_;
  bool open_ = false;  // only for the thread that calls shut() and open()
};

}  // namespace surety
