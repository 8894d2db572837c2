// SPDX-License-Identifier: BSD-3-Clause
// When each thing of a simulation has something to do next: a winner tree over a fixed number of them.
//
// Each thing has one time, which may be set at will; the earliest is always known. Of equal times
// the one with the lowest number comes first, so that a run is deterministic. O(log n) per change,
// no allocation after construction.
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
      : leaves_(std::bit_ceil(std::max<std::size_t>(things, 2))), when_(leaves_, kNever), winner_(leaves_) {
    for (std::size_t node = leaves_ - 1; node > 0; --node) winner_[node] = candidate(2 * node);
  }

  void set(std::uint32_t thing, Time when) {
    if (when_[thing] == when) return;
    when_[thing] = when;
    for (std::size_t node = (leaves_ + thing) / 2; node > 0; node /= 2) {
      const std::uint32_t left = candidate(2 * node), right = candidate(2 * node + 1);
      winner_[node] = when_[right] < when_[left] ? right : left;
    }
  }
  Time when(std::uint32_t thing) const { return when_[thing]; }
  std::uint32_t first() const { return winner_[1]; }
  Time next() const { return when_[winner_[1]]; }

 private:
  std::uint32_t candidate(std::size_t node) const {
    return node < leaves_ ? winner_[node] : static_cast<std::uint32_t>(node - leaves_);
  }

  std::size_t leaves_;
  std::vector<Time> when_;
  std::vector<std::uint32_t> winner_;  // of inner nodes, from 1
};

}  // namespace surety::lab
