// SPDX-License-Identifier: BSD-3-Clause
#include "conditioners/release_wheel.h"

#include <algorithm>
#include <bit>

namespace surety {

ReleaseWheel::ReleaseWheel(std::uint32_t keys, Duration slot, std::uint32_t slots, Time now)
    : shift_(
          std::countr_zero(std::bit_ceil(static_cast<std::uint64_t>(std::max(slot, Duration(1)).count())))),
      mask_(std::bit_ceil(std::max(slots, 64u)) - 1),
      cursor_(now.time_since_epoch().count() >> shift_),
      links_(std::size_t{keys} + 1),
      heads_(std::size_t{mask_} + 1),
      bitmap_((std::size_t{mask_} + 1) / 64) {}

void ReleaseWheel::insert(std::uint32_t key, Time when) {
  remove(key);
  const std::int64_t t = when.time_since_epoch().count();
  const std::int64_t start = t >> shift_;
  const std::int64_t rounded_up = start + (start << shift_ != t ? 1 : 0);
  const std::uint32_t slot = slot_of(std::clamp(rounded_up, cursor_, cursor_ + mask_));

  Link& link = links_[key];
  link.slot = slot;
  if (std::uint32_t& head = heads_[slot]; head == 0) {
    head = link.next = link.previous = key;
    bitmap_[slot / 64] |= std::uint64_t{1} << slot % 64;
  } else {
    const std::uint32_t tail = links_[head].previous;
    link.next = head;
    link.previous = tail;
    links_[tail].next = links_[head].previous = key;
  }
  ++size_;
}

void ReleaseWheel::remove(std::uint32_t key) {
  Link& link = links_[key];
  if (link.slot == kNoSlot) return;
  std::uint32_t& head = heads_[link.slot];
  if (link.next == key) {
    head = 0;
    bitmap_[link.slot / 64] &= ~(std::uint64_t{1} << link.slot % 64);
  } else {
    links_[link.next].previous = link.previous;
    links_[link.previous].next = link.next;
    if (head == key) head = link.next;
  }
  link.slot = kNoSlot;
  --size_;
}

std::int64_t ReleaseWheel::next_occupied_tick() const {
  const std::uint32_t first = slot_of(cursor_);
  std::size_t word = first / 64;
  std::uint64_t bits = bitmap_[word] & ~std::uint64_t{0} << first % 64;
  while (bits == 0) {  // comes round to the slots before `first` in its own word at last
    word = (word + 1) % bitmap_.size();
    bits = bitmap_[word];
  }
  const auto slot =
      static_cast<std::uint32_t>(word * 64) + static_cast<std::uint32_t>(std::countr_zero(bits));
  return cursor_ + ((slot - first) & mask_);
}

std::size_t ReleaseWheel::expire(Time now, std::span<std::uint32_t> out) {
  const std::int64_t now_tick = now.time_since_epoch().count() >> shift_;
  std::size_t n = 0;
  while (size_ > 0) {
    const std::int64_t tick = next_occupied_tick();
    if (tick > now_tick) break;
    cursor_ = tick;
    for (const std::uint32_t& head = heads_[slot_of(tick)]; head != 0; ++n) {
      if (n == out.size()) return n;
      out[n] = head;
      remove(head);
    }
  }
  cursor_ = std::max(cursor_, now_tick);
  return n;
}

Time ReleaseWheel::next_event() const {
  if (size_ == 0) return kNever;
  return Time(Duration(next_occupied_tick() << shift_));
}

}  // namespace surety
