// SPDX-License-Identifier: BSD-3-Clause
// Ranges of sequence numbers, sorted, none of which touches another: a receiver's data beyond RCV.NXT, or a
// sender's SACKed data.
//
// A search is a bisection; the few ranges of an ordinary loss are kept here. More of them, up to kMost, get
// memory that doubles as they do and is given back when the last has gone: a window of 64 MB has no more
// holes than that between packets of 1000 bytes. All sequence numbers given lie within 2^31 of each other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "endpoints/tcp/wire_tcp.h"

namespace surety::endpoints {

class RangeSet {
 public:
  static constexpr std::size_t kKept = 16, kMost = 32768;  // powers of two

  using Range = tcp::Block;

  RangeSet() = default;
  RangeSet(const RangeSet&) = delete;  // not needed
  RangeSet& operator=(const RangeSet&) = delete;

  // [begin, end), begin before end. False, and nothing is changed: it needs one range more than there may be.
  bool add(std::uint32_t begin, std::uint32_t end);
  // Forgets the first n ranges, or everything before `to`.
  void pop_front(std::size_t n) { erase(0, n); }
  void forget_before(std::uint32_t to);
  void clear() { erase(0, count_); }

  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  const Range& operator[](std::size_t i) const { return data()[(head_ + i) & (capacity_ - 1)]; }

  // The number of the first range that ends behind `at`; size(): none.
  std::size_t behind(std::uint32_t at) const;
  // The part of [begin, end) in the lowest range that overlaps it, or nothing.
  Range overlap(std::uint32_t begin, std::uint32_t end) const;
  // Bytes of [begin, end) that are in ranges.
  std::uint32_t covered(std::uint32_t begin, std::uint32_t end) const;

 private:
  const Range* data() const { return more_ ? more_.get() : kept_.data(); }
  Range& at(std::size_t i) { return const_cast<Range&>((*this)[i]); }
  bool insert(std::size_t i, Range range);
  void erase(std::size_t first, std::size_t last);
  bool grow();

  // A ring: of both sides of a place, the shorter one moves.
  std::uint32_t head_ = 0, count_ = 0, capacity_ = kKept;
  std::array<Range, kKept> kept_;
  std::unique_ptr<Range[]> more_;
};

}  // namespace surety::endpoints
