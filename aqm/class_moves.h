// SPDX-License-Identifier: BSD-3-Clause
// Where the classes of a port are after a change of its queues: those that stay have a place, those that are
// gone have heirs.
//
// Sets of classes are words with a bit for each (there are no more than 64).
#pragma once

#include <cstdint>
#include <vector>

namespace surety {

struct ClassMoves {
  static constexpr std::uint8_t kGone = 0xff;
  // By class before: its place now; of one that is gone, the classes that get now what it would have got.
  std::vector<std::uint8_t> to;
  std::vector<std::uint64_t> heirs;

  // Everything is where it was.
  bool none() const { return to.empty(); }
  std::size_t gone() const;
  // Those of a set that are still there, by their places now.
  std::uint64_t image(std::uint64_t before) const;
  // The same, with the heirs of those that are not.
  std::uint64_t successors(std::uint64_t before) const;
};

}  // namespace surety
