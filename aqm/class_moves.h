// SPDX-License-Identifier: BSD-3-Clause
// New indices of a port's classes after a change of its queues; a removed class has heirs.
//
// Sets of classes are words with a bit for each (there are no more than 64).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace surety {

// The first class of a set that is not empty, from `from` on, wrapping once.
inline std::size_t first_from(std::uint64_t set, std::size_t from) {
  return (from + static_cast<std::size_t>(std::countr_zero(std::rotr(set, static_cast<int>(from))))) % 64;
}

struct ClassMoves {
  static constexpr std::uint8_t kGone = 0xff;
  // Indexed by old class: its new index or kGone, and for a removed class the classes that inherit its
  // packets.
  std::vector<std::uint8_t> to;
  std::vector<std::uint64_t> heirs;

  // Everything is where it was.
  bool none() const { return to.empty(); }
  std::size_t gone() const { return static_cast<std::size_t>(std::ranges::count(to, kGone)); }
  // Maps a set of old classes to the new indices of those that remain.
  std::uint64_t image(std::uint64_t before) const {
    std::uint64_t now = 0;
    for (std::size_t c = 0; c < to.size(); ++c)
      if ((before >> c & 1) != 0 && to[c] != kGone) now |= std::uint64_t{1} << to[c];
    return now;
  }
  // image(), and the heirs of the removed classes.
  std::uint64_t successors(std::uint64_t before) const {
    std::uint64_t now = image(before);
    for (std::size_t c = 0; c < to.size(); ++c)
      if ((before >> c & 1) != 0 && to[c] == kGone) now |= heirs[c];
    return now;
  }
};

}  // namespace surety
