// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/engine/timer_wheel.h"

#include <algorithm>
#include <bit>

namespace surety::endpoints {

namespace {

// A slot of each wheel is an eighth (far) or a quarter (farther) of what the wheel below spans: so it can be
// moved down long before it is due.
constexpr int kNearBits = 14, kFarBits = 12, kFarFraction = 3, kFartherFraction = 2;

}  // namespace

TimerWheel::TimerWheel(std::uint32_t keys, Duration slot, Time now)
    : shift_(
          std::countr_zero(std::bit_ceil(static_cast<std::uint64_t>(std::max(slot, Duration(8)).count())))),
      cursor_(now.time_since_epoch().count() >> shift_),
      levels_{Level(0, kNearBits), Level(kNearBits - kFarFraction, kFarBits),
              Level(kNearBits - kFarFraction + kFarBits - kFartherFraction, kFarBits)},
      links_(std::size_t{keys} + 1, HugeMemory::Pages::resident) {}

Duration TimerWheel::horizon() const {
  const Level& last = level(farther);
  return Duration(std::int64_t{last.mask} << last.shift << shift_);
}

std::size_t TimerWheel::memory_bytes() const {
  std::size_t n = links_.bytes();
  for (const Level& l : levels_) n += l.heads.size() * sizeof l.heads[0] + l.occupied.bytes();
  return n;
}

void TimerWheel::unlink(Link& link) {
  const Place p = link.place();
  if (link.next != 0) links_[link.next].previous = link.previous;
  if (link.previous != 0) links_[link.previous].next = link.next;
  if (p == queue) {
    if (link.previous == 0) queue_first_ = link.next;
    if (link.next == 0) queue_last_ = link.previous;
  } else if (link.previous == 0) {
    Level& l = level(p);
    const std::uint32_t slot = l.slot(link.tick());
    l.heads[slot] = link.next;
    if (link.next != 0) return;
    p == near ? empty_near(link.tick()) : l.occupied.clear(slot);
  }
}

void TimerWheel::take_out(Link& link) {
  if (link.place() == nowhere) return;
  unlink(link);
  --size_;
}

void TimerWheel::place_far(std::uint32_t key, std::int64_t tick) {
  const Place p = level(far).reaches(cursor_, tick) ? far : farther;
  const Level& l = level(p);
  if (!l.reaches(cursor_, tick)) tick = ((cursor_ >> l.shift) + l.mask) << l.shift;
  push(key, p, tick);
  const std::int64_t start = tick >> l.shift << l.shift;
  far_next_ = std::min(far_next_, start);
  move_ahead_next(p, start);
}

void TimerWheel::remove(std::uint32_t key) {
  take_out(links_[key]);
  links_[key] = {};
}

void TimerWheel::enqueue(std::uint32_t key) {
  take_out(links_[key]);
  links_[key] = {0, queue_last_, queue};
  (queue_last_ != 0 ? links_[queue_last_].next : queue_first_) = key;
  queue_last_ = key;
  ++size_;
}

void TimerWheel::enqueue_first(std::uint32_t key) {
  take_out(links_[key]);
  links_[key] = {queue_first_, 0, queue};
  (queue_first_ != 0 ? links_[queue_first_].previous : queue_last_) = key;
  queue_first_ = key;
  ++size_;
}

// ---- the far wheels ----------------------------------------------------------------------------------

// The cursor from which the wheel below reaches the whole of the slot that begins at `tick`.
std::int64_t TimerWheel::movable_from(Place p, std::int64_t tick) const {
  const Level& below = level(static_cast<Place>(p - 1));
  const std::int64_t last = tick + (std::int64_t{1} << level(p).shift) - 1;
  return ((last >> below.shift) - below.mask) << below.shift;
}

void TimerWheel::move_ahead_next(Place p, std::int64_t tick) {
  if (const std::int64_t from = movable_from(p, tick); from < ahead_.from) ahead_ = {from, tick, p};
}

void TimerWheel::find_far() {
  far_next_ = kEmpty;
  ahead_ = {};
  for (const Place p : {far, farther}) {
    const std::int64_t tick = first_tick(p);
    if (tick == kEmpty) continue;
    far_next_ = std::min(far_next_, tick);
    move_ahead_next(p, tick);
  }
}

// Takes the first key of a far slot nearer; false: there is none (left).
bool TimerWheel::bring_nearer(Place from, std::int64_t tick) {
  Level& l = level(from);
  const std::uint32_t slot = l.slot(tick), key = l.heads[slot];
  if (key == 0) return false;
  const Link link = links_[key];
  l.heads[slot] = link.next;
  prefetch(link.next);
  --size_;
  place(key, link.tick());
  if (link.next == 0) {
    l.occupied.clear(slot);
    return false;
  }
  links_[link.next].previous = 0;
  return true;
}

// One key at a time: the next one's link is fetched while the caller does something else.
void TimerWheel::move_ahead() {
  if (!bring_nearer(ahead_.place, ahead_.tick)) find_far();
}

// Whole slots that begin at far_next_: now or never.
void TimerWheel::open_far_slots() {
  cursor_ = std::max(cursor_, far_next_);
  for (const Place p : {farther, far})
    if (const std::int64_t tick = first_tick(p); tick <= cursor_)
      while (bring_nearer(p, tick)) continue;
  find_far();
}

// ---- expiry ----------------------------------------------------------------------------------------------

std::size_t TimerWheel::take_queue(std::span<std::uint32_t> out) {
  std::size_t n = 0;
  for (; n < out.size() && queue_first_ != 0; ++n) {
    const std::uint32_t key = out[n] = queue_first_;
    queue_first_ = links_[key].next;
    links_[key] = {};
  }
  if (queue_first_ != 0)
    links_[queue_first_].previous = 0;
  else
    queue_last_ = 0;
  size_ -= static_cast<std::uint32_t>(n);
  return n;
}

std::size_t TimerWheel::take_slot(std::int64_t tick, std::span<std::uint32_t> out) {
  Level& l = level(near);
  const std::uint32_t slot = l.slot(tick);
  std::uint32_t key = l.heads[slot];
  std::size_t n = 0;
  for (; key != 0 && n < out.size(); ++n) {
    Link& link = links_[out[n] = key];
    key = link.next;
    link.where = nowhere;
  }
  l.heads[slot] = key;
  if (key == 0)
    empty_near(tick);
  else
    links_[key].previous = 0;
  size_ -= static_cast<std::uint32_t>(n);
  return n;
}

// Due keys join the queue's end, so that a key that is always ready does not overtake waiting ones.
void TimerWheel::queue_slot(std::int64_t tick) {
  Level& l = level(near);
  const std::uint32_t slot = l.slot(tick), first = l.heads[slot];
  l.heads[slot] = 0;
  empty_near(tick);
  links_[first].previous = queue_last_;
  (queue_last_ != 0 ? links_[queue_last_].next : queue_first_) = first;
  for (std::uint32_t key = first; key != 0; key = links_[key].next) {
    links_[key].where = queue;
    queue_last_ = key;
  }
}

// The first occupied slot up to `now_tick`, where the cursor is then;
// kEmpty: none, and the cursor is at now_tick.
std::int64_t TimerWheel::next_due(std::int64_t now_tick) {
  while (true) {
    if (std::min(near_next_, far_next_) > now_tick) {
      cursor_ = std::max(cursor_, now_tick);
      return kEmpty;
    }
    if (near_next_ < far_next_) return cursor_ = near_next_;
    open_far_slots();
  }
}

std::size_t TimerWheel::expire(Time now, std::span<std::uint32_t> out) {
  const std::int64_t now_tick = now.time_since_epoch().count() >> shift_;
  const bool waiting = queue_first_ != 0;
  std::size_t n = waiting ? take_queue(out) : 0;
  while (n < out.size()) {
    const std::int64_t tick = next_due(now_tick);
    if (tick == kEmpty) break;
    n += take_slot(tick, out.subspan(n));
  }
  if (waiting && n == out.size())
    for (std::int64_t tick; (tick = next_due(now_tick)) != kEmpty;) queue_slot(tick);
  for (int i = 0; i < kAhead && cursor_ >= ahead_.from; ++i) move_ahead();
  return n;
}

Time TimerWheel::next_event() const {
  if (size_ == 0) return kNever;
  if (queue_first_ != 0) return Time(Duration(cursor_ << shift_));
  return Time(Duration(std::min(near_next_, far_next_) << shift_));
}

}  // namespace surety::endpoints
