// SPDX-License-Identifier: BSD-3-Clause
// When each thing of a simulation has something to do next: a tree of sixteens over a fixed number of them.
//
// Each thing has one time, which may be set at will; the earliest is always known. Of equal times
// the one with the lowest number comes first, so that a run is deterministic. No allocation after
// construction, and no branch that depends on the times: no predictor would guess it. With up to sixteen
// things, which most scenarios have, to set a time is to store it; the earliest is looked for once per event.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <vector>

#include "conditioners/units.h"

namespace surety::lab {

class EventTree {
 public:
  explicit EventTree(std::size_t things) {
    for (std::size_t groups = std::max<std::size_t>(things, 1); levels_.empty() || groups > 1;) {
      groups = (groups + kGroup - 1) / kGroup;
      levels_.push_back(entries_.size());
      for (std::size_t i = 0; i < groups * kGroup; ++i) entries_.push_back(entry(kNobody, i));
    }
  }

  // Not before time 0.
  void set(std::uint32_t thing, Time at) {
    assert(at >= Time{});
    const auto when = static_cast<std::uint64_t>(at.time_since_epoch().count());
    entries_[thing] = entry(std::min(when, kNobody), thing);
    for (std::size_t level = 1, place = thing; level < levels_.size(); ++level) {
      const std::uint64_t first = least(&entries_[levels_[level - 1] + place / kGroup * kGroup]);
      place /= kGroup;
      entries_[levels_[level] + place] = entry(first / kGroup, place);
    }
  }
  Time when(std::uint32_t thing) const {
    const std::uint64_t when = entries_[thing] / kGroup;
    return when == kNobody ? kNever : Time(Duration(when));
  }
  std::uint32_t first() const {
    std::size_t place = 0;
    for (std::size_t level = levels_.size(); level-- > 0;)
      place = place * kGroup + least(&entries_[levels_[level] + place * kGroup]) % kGroup;
    return static_cast<std::uint32_t>(place);
  }
  Time next() const { return when(first()); }

 private:
  static constexpr std::uint64_t kGroup = 16, kNobody = UINT64_MAX / kGroup;

  // Who comes earlier is less; of equal times who stands first in its group.
  static std::uint64_t entry(std::uint64_t when, std::size_t place) { return when * kGroup + place % kGroup; }
  // In a register of its own: a vector of several entries would wait for those that have just been stored.
  static std::uint64_t lesser(std::uint64_t a, std::uint64_t b) {
    std::uint64_t least = std::min(a, b);
    asm("" : "+r"(least));
    return least;
  }
  static std::uint64_t least_of_4(const std::uint64_t* e) {
    return lesser(std::min(e[0], e[1]), std::min(e[2], e[3]));
  }
  static std::uint64_t least(const std::uint64_t* e) {
    return lesser(lesser(least_of_4(e), least_of_4(e + 4)), lesser(least_of_4(e + 8), least_of_4(e + 12)));
  }

  // Of all things, then of each group of them the earliest, and so on: the last level is one group.
  std::vector<std::uint64_t> entries_;
  std::vector<std::size_t> levels_;  // where each begins
};

}  // namespace surety::lab
