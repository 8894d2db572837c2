// SPDX-License-Identifier: BSD-3-Clause
#include "aqm/class_moves.h"

#include <algorithm>

namespace surety {

std::size_t ClassMoves::gone() const {
  return static_cast<std::size_t>(std::ranges::count(to, kGone));
}

std::uint64_t ClassMoves::image(std::uint64_t before) const {
  std::uint64_t now = 0;
  for (std::size_t c = 0; c < to.size(); ++c)
    if ((before >> c & 1) != 0 && to[c] != kGone) now |= std::uint64_t{1} << to[c];
  return now;
}

std::uint64_t ClassMoves::successors(std::uint64_t before) const {
  std::uint64_t now = image(before);
  for (std::size_t c = 0; c < to.size(); ++c)
    if ((before >> c & 1) != 0 && to[c] == kGone) now |= heirs[c];
  return now;
}

}  // namespace surety
