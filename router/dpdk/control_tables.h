// SPDX-License-Identifier: BSD-3-Clause
// What the control thread alone may look at, for a thread that shows it: it copies some of it in each round
// once somebody has asked, and waits for nobody.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "router/dpdk/control.h"
#include "router/observe/route_table.h"

namespace surety {

// One thing that is asked for; of several who ask, one waits for the other.
template <class Copy>
class CopyRequest {
 public:
  // None: it is not there in time.
  std::optional<Copy> fetch(std::chrono::milliseconds patience) {
    const std::scoped_lock one(askers_);
    std::unique_lock lock(mutex_);
    wanted_ = true;
    ready_.reset();
    ready_now_.wait_for(lock, patience, [this] { return ready_.has_value(); });
    return std::exchange(ready_, std::nullopt);
  }
  // On the thread that makes it: `step(copy)` until that is false. True: there is more to do.
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
  std::optional<NeighborKey> next = NeighborKey{};  // of those known
  std::shared_ptr<const Interfaces> names{};
};

class ControlTables {
 public:
  static constexpr std::size_t kPlaces = 8192;  // a round's: a millisecond or two
  static constexpr std::chrono::milliseconds kPatience{2000};

  // On another thread. Null: the control thread has had no time for it.
  Json routes();
  Json neighbors();
  // On the control thread, in each round. True: there is more to do, at once.
  bool step(const Control& control, Time now);

 private:
  CopyRequest<RoutesAnswer> routes_;
  CopyRequest<NeighborsAnswer> neighbors_;
};

}  // namespace surety
