// SPDX-License-Identifier: BSD-3-Clause
// Memory in cache lines, taken once: what is of one interface stands together, and a number tells where.
//
// Blocks of so many lines are taken and given back without the heap and in constant time. Pages that nobody
// has used yet cost nothing, so that the room can be that of all interfaces that a port could ever have.
#pragma once

#include <array>
#include <cstdint>
#include <new>

#include "aqm/hierarchy/large_memory.h"
#include "aqm/hierarchy/prefetch.h"

namespace surety {

// The first line of a block; 0: none.
using LineNumber = std::uint32_t;

class LineArena {
 public:
  static constexpr std::size_t kLine = 64;
  static constexpr std::uint32_t kLargest = 512;  // lines of a block

  explicit LineArena(std::uint32_t lines);

  // A block of 1 .. kLargest lines; 0: there are none left. One that came back goes to who wants the same
  // size, or is parted when there is nothing else; parts are not joined again.
  LineNumber take(std::uint32_t lines);
  void give(LineNumber block, std::uint32_t lines);

  template <class T>
  T& at(LineNumber n) {
    return *std::launder(reinterpret_cast<T*>(address(n)));
  }
  template <class T>
  const T& at(LineNumber n) const {
    return *std::launder(reinterpret_cast<const T*>(address(n)));
  }
  void* address(LineNumber n) const { return memory_.get() + std::size_t{n} * kLine; }
  SURETY_PREFETCHES void prefetch(LineNumber n) const { prefetch_line(address(n)); }

 private:
  LineNumber retake(std::uint32_t lines);
  LargeMemory<std::byte> memory_;
  std::uint32_t used_ = 1, lines_;                     // those from used_ on have never been taken
  std::array<LineNumber, kLargest + 1> given_back_{};  // by size; each says in its first bytes which is next
};

}  // namespace surety
