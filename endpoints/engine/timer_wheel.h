// SPDX-License-Identifier: BSD-3-Clause
// Wake-up times of many flows: a timing wheel with a near wheel of fine slots and two far ones of coarse
// slots, O(1) whatever the time and the number of keys.
//
// Keys are 1 .. keys, each in the wheel at most once. A key comes out when `now` has reached its time rounded
// up to a slot: never early, less than one slot late; earlier slots first, in no particular order within one.
// A time further ahead than horizon() comes out there, early. Beside the wheel is a queue of keys that wait
// for nothing but their turn.
//
// Keys of the far wheels move to the near one ahead of need, one or a few with each call: no call moves
// thousands at once unless time itself has jumped.
//
// conditioners/release_wheel.h has other needs. This wheel is for timers from microseconds to a minute that
// are set again with almost every packet: three levels, 98 kB of them, and no order within a slot. Held
// packets leave within milliseconds and in the order in which they came: one level does, and its slots are
// queues.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "conditioners/huge_memory.h"
#include "conditioners/units.h"
#include "endpoints/engine/slot_bitmap.h"

namespace surety::endpoints {

class TimerWheel {
 public:
  // `slot` is rounded up to a power of two nanoseconds, at least 8.
  TimerWheel(std::uint32_t keys, Duration slot, Time now);

  // `when` not later than the last `now`: comes out next time. A key that is in already moves. Not kNever.
  void insert(std::uint32_t key, Time when) {
    if (Link& link = links_[key]; link.place() != nowhere) take_out(link);
    place(key, std::max(tick_up(when), cursor_));
    if (cursor_ >= ahead_.from) [[unlikely]]
      move_ahead();
  }
  void remove(std::uint32_t key);  // no-op when it is not in
  // To the end, or the front, of the queue. A key that is in already moves.
  void enqueue(std::uint32_t key);
  void enqueue_first(std::uint32_t key);
  // True if the key is in and comes out no later than insert(key, when) would let it: then a timer that only
  // moves away need not be touched.
  bool covers(std::uint32_t key, Time when) const {
    const Link& link = links_[key];
    const Place p = link.place();
    return p == queue || (p != nowhere && link.tick() <= std::max(tick_up(when), cursor_));
  }
  void prefetch(std::uint32_t key) const { __builtin_prefetch(&links_[key], 1); }

  // Takes out up to out.size() keys: the queue's, then those that are due at `now`. If the queue does not end
  // here, the due ones join it.
  std::size_t expire(Time now, std::span<std::uint32_t> out);

  // kNever when empty; a lower bound otherwise: later than the last `now` unless expire() gives a key.
  Time next_event() const;

  std::uint32_t size() const { return size_; }
  Duration slot() const { return Duration(std::int64_t{1} << shift_); }
  Duration horizon() const;
  std::size_t memory_bytes() const;

 private:
  static constexpr std::int64_t kEmpty = INT64_MAX;
  enum Place : std::uint8_t { nowhere, queue, near, far, farther };
  struct Link {
    std::uint32_t next = 0, previous = 0;
    std::int64_t where = 0;  // tick << 3 | Place
    Place place() const { return static_cast<Place>(where & 7); }
    std::int64_t tick() const { return where >> 3; }
  };
  static_assert(sizeof(Link) == 16);

  struct Level {
    int shift;           // from a tick to a position
    std::uint32_t mask;  // from a position to a slot
    std::vector<std::uint32_t> heads;
    SlotBitmap occupied;
    Level(int shift, int bits)
        : shift(shift), mask((1u << bits) - 1), heads(std::size_t{1} << bits), occupied(1u << bits) {}
    std::uint32_t slot(std::int64_t tick) const { return static_cast<std::uint32_t>(tick >> shift) & mask; }
    std::int64_t distance(std::int64_t from, std::int64_t to) const {
      return (to >> shift) - (from >> shift);
    }
    bool reaches(std::int64_t from, std::int64_t to) const { return distance(from, to) <= mask; }
  };
  // The far slot whose keys can be moved down first, and the cursor from which they can.
  struct Ahead {
    std::int64_t from = kEmpty, tick = kEmpty;
    Place place = far;
  };

  std::int64_t tick_up(Time when) const {
    const std::int64_t t = when.time_since_epoch().count();
    return (t >> shift_) + ((t & ((std::int64_t{1} << shift_) - 1)) != 0 ? 1 : 0);
  }
  Level& level(Place p) { return levels_[static_cast<std::size_t>(p - near)]; }
  const Level& level(Place p) const { return levels_[static_cast<std::size_t>(p - near)]; }
  // Puts a key that is in neither a wheel nor the queue where its tick belongs.
  void place(std::uint32_t key, std::int64_t tick) {
    if (level(near).reaches(cursor_, tick)) [[likely]]
      push(key, near, tick);
    else
      place_far(key, tick);
  }
  void push(std::uint32_t key, Place p, std::int64_t tick) {
    Level& l = level(p);
    const std::uint32_t slot = l.slot(tick);
    std::uint32_t& head = l.heads[slot];
    links_[key] = {head, 0, tick << 3 | p};
    if (p == near) near_next_ = std::min(near_next_, tick);
    // No branch on an empty slot, which no predictor would guess: then this writes to link 0, no key's.
    links_[head].previous = key;
    l.occupied.set(slot);
    head = key;
    ++size_;
  }
  void place_far(std::uint32_t key, std::int64_t tick);
  void take_out(Link& link);  // if it is in
  void unlink(Link& link);
  std::size_t take_queue(std::span<std::uint32_t> out);
  std::size_t take_slot(std::int64_t tick, std::span<std::uint32_t> out);
  void queue_slot(std::int64_t tick);
  std::int64_t next_due(std::int64_t now_tick);
  bool bring_nearer(Place from, std::int64_t tick);
  void move_ahead();
  void move_ahead_next(Place p, std::int64_t tick);
  void open_far_slots();
  // Start of the first occupied slot; kEmpty.
  std::int64_t first_tick(Place p) const {
    const Level& l = level(p);
    const std::uint32_t start = l.slot(cursor_), slot = l.occupied.next(start);
    if (slot == SlotBitmap::kNone) return kEmpty;
    return ((cursor_ >> l.shift) + ((slot - start) & l.mask)) << l.shift;
  }
  // A slot of the near wheel has nothing left in it.
  void empty_near(std::int64_t tick) {
    level(near).occupied.clear(level(near).slot(tick));
    if (tick == near_next_) near_next_ = first_tick(near);
  }
  std::int64_t movable_from(Place p, std::int64_t tick) const;
  void find_far();

  static constexpr int kAhead = 4;  // keys that one call of expire() moves ahead of need; insert() moves one

  int shift_;            // from a time to a tick
  std::int64_t cursor_;  // no key in the wheels is for an earlier tick
  // The first tick of the near wheel: looked for once per slot, not with each call.
  std::int64_t near_next_ = kEmpty;
  std::int64_t far_next_ = kEmpty;  // lower bound of the first tick of the far wheels
  Ahead ahead_;
  std::uint32_t queue_first_ = 0, queue_last_ = 0;
  std::uint32_t size_ = 0;
  std::array<Level, 3> levels_;
  HugeArray<Link> links_;
};

}  // namespace surety::endpoints
