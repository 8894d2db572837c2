// SPDX-License-Identifier: BSD-3-Clause
// The time of day, for what travels between machines: an argument like Time (CONTRIBUTING.md rule 1).
//
// The driver sets the offset, again and again as the system's clock is corrected; workers read it relaxed. It
// may step either way.
#pragma once

#include <atomic>
#include <chrono>

#include "conditioners/units.h"

namespace surety {

using UnixTime = std::chrono::sys_time<std::chrono::milliseconds>;

class WallClock {
 public:
  explicit WallClock(UnixTime at, Time now = {}) { set(at, now); }
  // Sets the wall clock: it shows `at` at the moment that the router's own clock shows `now`.
  void set(UnixTime at, Time now) {
    offset_.store(
        std::chrono::duration_cast<Duration>(at.time_since_epoch()).count() - now.time_since_epoch().count(),
        std::memory_order_relaxed);
  }
  UnixTime at(Time now) const {
    return UnixTime(std::chrono::duration_cast<std::chrono::milliseconds>(
        now.time_since_epoch() + Duration(offset_.load(std::memory_order_relaxed))));
  }

 private:
  std::atomic<std::int64_t> offset_{0};  // ns
};

}  // namespace surety
