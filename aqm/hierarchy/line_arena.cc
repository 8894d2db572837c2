// SPDX-License-Identifier: BSD-3-Clause
#include "aqm/hierarchy/line_arena.h"

#include <cassert>

namespace surety {

LineArena::LineArena(std::uint32_t lines)
    : memory_(static_cast<std::byte*>(std::aligned_alloc(kLine, (std::size_t{lines} + 1) * kLine))),
      lines_(lines + 1) {
  if (memory_ == nullptr) throw std::bad_alloc();
}

LineNumber LineArena::take(std::uint32_t lines) {
  assert(lines > 0 && lines <= kLargest);
  if (LineNumber& first = given_back_[lines]; first != 0) {
    const LineNumber block = first;
    first = at<LineNumber>(block);
    return block;
  }
  if (lines > lines_ - used_) return 0;
  const LineNumber block = used_;
  used_ += lines;
  return block;
}

void LineArena::give(LineNumber block, std::uint32_t lines) {
  new (address(block)) LineNumber(given_back_[lines]);
  given_back_[lines] = block;
}

}  // namespace surety
