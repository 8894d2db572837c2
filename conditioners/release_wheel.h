// SPDX-License-Identifier: BSD-3-Clause
// Release times of held packets: a timing wheel with O(1) insert and expiry, sized at start.
//
// Keys are small integers (HoldingPool queue numbers), each in the wheel at most once. A key comes out in the
// turn whose `now` has reached its time rounded up to a slot: never early, at most one slot late, and in the
// order of insertion within a slot. Times beyond the horizon are parked in the last slot and come out early
// there: the owner looks again (it must anyway, alpha moves).
//
// endpoints/engine/timer_wheel.h has other needs: timers of flows run for up to a minute, which takes three
// levels, and are set again with almost every packet, for which that wheel gives up the order within a slot.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "conditioners/units.h"

namespace surety {

class ReleaseWheel {
 public:
  // `slot` is rounded up to a power of two nanoseconds, `slots` to a power of two (at
  // least 64). Keys are 1 .. keys.
  ReleaseWheel(std::uint32_t keys, Duration slot, std::uint32_t slots, Time now);

  // `when` in the past: next expire() gives it. A key that is in already moves.
  void insert(std::uint32_t key, Time when);
  void remove(std::uint32_t key);  // no-op when it is not in
  bool contains(std::uint32_t key) const { return links_[key].slot != kNoSlot; }

  // Takes out up to out.size() keys that are due at `now`, earliest slot first;
  // the rest comes with the next call.
  std::size_t expire(Time now, std::span<std::uint32_t> out);

  Time next_event()
      const;  // kNever when empty; a lower bound otherwise (the start of the next occupied slot)
  std::uint32_t size() const { return size_; }
  Duration slot() const { return Duration(std::int64_t{1} << shift_); }

 private:
  static constexpr std::uint32_t kNoSlot = ~0u;
  struct Link {  // link of a circular list: the tail is the head's `previous`
    std::uint32_t next = 0, previous = 0, slot = kNoSlot;
  };
  std::uint32_t slot_of(std::int64_t tick) const { return static_cast<std::uint32_t>(tick) & mask_; }
  std::int64_t next_occupied_tick() const;  // not when empty

  int shift_;           // from a time to a tick
  std::uint32_t mask_;  // from a tick to a slot
  // No key is due before this tick; the slots hold the ticks cursor_ .. cursor_ + mask_.
  std::int64_t cursor_;
  std::uint32_t size_ = 0;
  std::vector<Link> links_;            // indexed by key
  std::vector<std::uint32_t> heads_;   // indexed by slot; 0: none
  std::vector<std::uint64_t> bitmap_;  // slots that are not empty
};

}  // namespace surety
