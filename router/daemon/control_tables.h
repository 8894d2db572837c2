// SPDX-License-Identifier: BSD-3-Clause
// Copies of the control thread's tables for other threads: after a request the control thread copies a part
// in each round, and never blocks.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "router/operate/observe/route_table.h"

namespace surety {

class Control;

// One requested copy; concurrent fetch() calls run one after the other.
template <class Copy>
class CopyRequest {
 public:
  // Returns nullopt if there is no copy after `patience`.
  std::optional<Copy> fetch(std::chrono::milliseconds patience) {
    const std::scoped_lock one(askers_);
    std::unique_lock lock(mutex_);
    wanted_ = true;
    ready_.reset();
    ready_now_.wait_for(lock, patience, [this] { return ready_.has_value(); });
    return std::exchange(ready_, std::nullopt);
  }
  // Calls `step(copy)` until it returns false; on the thread that copies. Returns true if there is more to
  // do.
  template <class Step>
  bool work(Step&& step) {
    if (!making_) {
      const std::scoped_lock lock(mutex_);
      if (!std::exchange(wanted_, false)) return false;
      making_.emplace();
    }
    if (step(*making_)) return true;
    {
      const std::scoped_lock lock(mutex_);
      ready_ = std::exchange(making_, std::nullopt);
    }
    ready_now_.notify_one();
    return false;
  }

 private:
  std::mutex askers_, mutex_;
  std::condition_variable ready_now_;
  bool wanted_ = false;
  std::optional<Copy> ready_, making_;
};

struct RoutesAnswer {
  RouteCopy copy{};
  std::shared_ptr<const Interfaces> names{};
};
struct NeighborsAnswer {
  std::vector<NeighborRow> rows{};
  std::optional<NeighborKey> next = NeighborKey{};  // the next neighbour to copy; nullopt: complete
  std::shared_ptr<const Interfaces> names{};
};

class ControlTables {
 public:
  static constexpr std::size_t kPlaces = 8192;  // entries per round: a millisecond or two
  static constexpr std::chrono::milliseconds kPatience{2000};

  // These are called by other threads. They return null if the control thread does not finish within
  // kPatience.
  Json routes();
  Json neighbors();
  // Copies a part; called by the control thread in each round. Returns true if there is more to do at once.
  bool step(const Control& control, Time now);

 private:
  CopyRequest<RoutesAnswer> routes_;
  CopyRequest<NeighborsAnswer> neighbors_;
};

}  // namespace surety
