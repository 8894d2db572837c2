// SPDX-License-Identifier: BSD-3-Clause
#include "aqm/hierarchy/line_arena.h"

#include <cassert>

namespace surety {

LineArena::LineArena(std::uint32_t lines) : memory_((std::size_t{lines} + 1) * kLine), lines_(lines + 1) {}

LineNumber LineArena::take(std::uint32_t lines) {
  assert(lines > 0 && lines <= kLargest);
  if (given_back_[lines] != 0) return retake(lines);
  if (lines <= lines_ - used_) {
    const LineNumber block = used_;
    used_ += lines;
    return block;
  }
  for (std::uint32_t larger = lines + 1; larger <= kLargest; ++larger) {
    if (given_back_[larger] == 0) continue;
    const LineNumber block = retake(larger);
    give(block + lines, larger - lines);
    return block;
  }
  return 0;
}

LineNumber LineArena::retake(std::uint32_t lines) {
  const LineNumber block = given_back_[lines];
  given_back_[lines] = at<LineNumber>(block);
  return block;
}

void LineArena::give(LineNumber block, std::uint32_t lines) {
  new (address(block)) LineNumber(given_back_[lines]);
  given_back_[lines] = block;
}

}  // namespace surety
