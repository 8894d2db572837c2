// SPDX-License-Identifier: BSD-3-Clause
// When each thing of a simulation has something to do next: a winner tree over a fixed number of them.
//
// Each thing has one time, which may be set at will; the earliest is always known. Of equal times
// the one with the lowest number comes first, so that a run is deterministic. O(log n) per change,
// no allocation after construction, and no branch that depends on the times: no predictor would guess it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "conditioners/units.h"

namespace surety::lab {

class EventTree {
 public:
  explicit EventTree(std::size_t things)
      : leaves_(std::bit_ceil(std::max<std::size_t>(things, 2))),
        when_(2 * leaves_, kNobody),
        thing_(2 * leaves_) {
    for (std::size_t i = 0; i < leaves_; ++i) thing_[leaves_ + i] = static_cast<std::uint32_t>(i);
    for (std::size_t node = leaves_ - 1; node > 0; --node) thing_[node] = thing_[2 * node];
  }

  void set(std::uint32_t thing, Time at) {
    std::size_t node = leaves_ + thing;
    std::int64_t when = at.time_since_epoch().count();
    if (when_[node] == when) return;
    when_[node] = when;
    for (; node > 1; node /= 2) {
      const std::size_t sibling = node ^ 1;
      // One on the left wins of equal times too. Selected by masks: of a condition the compiler makes a
      // branch.
      const std::int64_t left = node & 1, all = -static_cast<std::int64_t>(when_[sibling] - left < when);
      when ^= (when ^ when_[sibling]) & all;
      thing ^= (thing ^ thing_[sibling]) & static_cast<std::uint32_t>(all);
      when_[node / 2] = when;
      thing_[node / 2] = thing;
    }
  }
  Time when(std::uint32_t thing) const { return Time(Duration(when_[leaves_ + thing])); }
  std::uint32_t first() const { return thing_[1]; }
  Time next() const { return Time(Duration(when_[1])); }

 private:
  static constexpr std::int64_t kNobody = kNever.time_since_epoch().count();

  std::size_t leaves_;
  // Who wins at each node and when, from 1; the second half are the things themselves.
  std::vector<std::int64_t> when_;
  std::vector<std::uint32_t> thing_;
};

}  // namespace surety::lab
