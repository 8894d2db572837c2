// SPDX-License-Identifier: BSD-3-Clause
// Memory in cache lines, allocated once: the lines of one interface are contiguous, and a number addresses
// them.
//
// Blocks of so many lines are taken and given back without the heap and in constant time. Untouched pages
// cost nothing, so that the arena can have room for all interfaces that a port could ever have.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>

#include "conditioners/huge_memory.h"

#define SURETY_PREFETCHES [[gnu::always_inline]] inline

namespace surety {

// Prefetches a cache line that will be written soon.
//
// Functions that do nothing else must be SURETY_PREFETCHES: GCC 12 takes those that it does not inline for
// pure functions with an unused result, and removes the call.

SURETY_PREFETCHES void prefetch_line(const void* address) {
  __builtin_prefetch(address, 1);
}

// The first line of a block; 0: none.
using LineNumber = std::uint32_t;

class LineArena {
 public:
  static constexpr std::size_t kLine = 64;
  static constexpr std::uint32_t kLargest = 512;  // lines of a block

  explicit LineArena(std::uint32_t lines);

  // A block of 1 .. kLargest lines; 0: there are none left. A returned block is reused for the same size, or
  // split when nothing else is left; parts are not joined again.
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
  void* address(LineNumber n) const { return memory_.data() + std::size_t{n} * kLine; }
  SURETY_PREFETCHES void prefetch(LineNumber n) const { prefetch_line(address(n)); }

 private:
  LineNumber retake(std::uint32_t lines);
  HugeMemory memory_;
  std::uint32_t used_ = 1, lines_;                     // the lines from used_ on have never been taken
  std::array<LineNumber, kLargest + 1> given_back_{};  // lists by size; a block begins with the next one
};

}  // namespace surety
