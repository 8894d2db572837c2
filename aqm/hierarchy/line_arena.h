// SPDX-License-Identifier: BSD-3-Clause
// Memory in cache lines, allocated once: the lines of one interface are contiguous, and a number addresses
// them.
//
// Blocks of so many lines are taken and given back without the heap and in constant time. Untouched pages
// cost nothing, so that the arena can have room for all interfaces that a port could ever have.
#pragma once

#include <sys/mman.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace surety {

// Memory of many megabytes that is used sparsely and in no order: untouched pages cost nothing, and touched
// ones are huge pages where the kernel has them, since a packet of one of thousands of queues would otherwise
// miss in the TLB as often as in the cache.
struct FreeMemory {
  void operator()(void* p) const { std::free(p); }
};
// Not initialised, and not destroyed: for types that need neither.
template <class T>
using LargeMemory = std::unique_ptr<T, FreeMemory>;

// Throws std::bad_alloc.
template <class T>
LargeMemory<T> large_memory(std::size_t count) {
  constexpr std::size_t kLine = 64, kLargePage = std::size_t{2} << 20;
  const std::size_t bytes = count * sizeof(T), page = bytes < kLargePage ? kLine : kLargePage;
  const std::size_t rounded = (bytes + page - 1) / page * page;
  void* const p = std::aligned_alloc(page, rounded);
  if (p == nullptr) throw std::bad_alloc();
  if (page == kLargePage) madvise(p, rounded, MADV_HUGEPAGE);  // a wish; without them it is slower
  return LargeMemory<T>(static_cast<T*>(p));
}

}  // namespace surety

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
  void* address(LineNumber n) const { return memory_.get() + std::size_t{n} * kLine; }
  SURETY_PREFETCHES void prefetch(LineNumber n) const { prefetch_line(address(n)); }

 private:
  LineNumber retake(std::uint32_t lines);
  LargeMemory<std::byte> memory_;
  std::uint32_t used_ = 1, lines_;                     // the lines from used_ on have never been taken
  std::array<LineNumber, kLargest + 1> given_back_{};  // lists by size; a block begins with the next one
};

}  // namespace surety
