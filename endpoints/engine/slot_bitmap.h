// SPDX-License-Identifier: BSD-3-Clause
// Occupied slots of a wheel; finds the next one, wrapping, in a handful of steps however few there are.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace surety::endpoints {

class SlotBitmap {
 public:
  static constexpr std::uint32_t kNone = ~0u;

  // A power of two, at least 64.
  explicit SlotBitmap(std::uint32_t slots) : words_(slots / 64), summary_((slots / 64 + 63) / 64) {}

  void set(std::uint32_t slot) {
    words_[slot / 64] |= bit(slot);
    summary_[slot / 4096] |= bit(slot / 64);
  }
  void clear(std::uint32_t slot) {
    words_[slot / 64] &= ~bit(slot);
    if (words_[slot / 64] == 0) summary_[slot / 4096] &= ~bit(slot / 64);
  }

  // The first occupied slot at or behind `from`, else the first of all; kNone when all are empty.
  std::uint32_t next(std::uint32_t from) const {
    if (const std::uint64_t here = words_[from / 64] & ~std::uint64_t{0} << from % 64; here != 0)
      return from / 64 * 64 + first(here);
    return next_word(from);
  }

  std::size_t bytes() const { return (words_.size() + summary_.size()) * sizeof(std::uint64_t); }

 private:
  // next() when nothing is left in the word of `from`.
  [[gnu::noinline]] std::uint32_t next_word(std::uint32_t from) const {
    // The size is a power of two: a mask replaces divisions.
    const std::uint32_t mask = size(summary_) - 1, after = from / 64 + 1, start = after / 64 & mask;
    std::uint64_t bits =
        after / 64 == start ? summary_[start] & ~std::uint64_t{0} << after % 64 : summary_[start];
    // One step more than there are: the words before `after` in its own summary word come last.
    for (std::uint32_t i = 0, s = start; i <= mask + 1; ++i, bits = summary_[s]) {
      if (bits != 0) {
        const std::uint32_t word = s * 64 + first(bits);
        return word * 64 + first(words_[word]);
      }
      s = (s + 1) & mask;
    }
    return kNone;
  }
  static std::uint64_t bit(std::uint32_t n) { return std::uint64_t{1} << n % 64; }
  static std::uint32_t first(std::uint64_t bits) {
    return static_cast<std::uint32_t>(std::countr_zero(bits));
  }
  static std::uint32_t size(const std::vector<std::uint64_t>& v) {
    return static_cast<std::uint32_t>(v.size());
  }

  std::vector<std::uint64_t> words_, summary_;  // summary: words that are not zero
};

}  // namespace surety::endpoints
