// SPDX-License-Identifier: BSD-3-Clause
// Memory of many megabytes that is used sparsely and in no order: untouched pages cost nothing, and touched
// ones are huge pages where the kernel has them, since a packet of one of thousands of queues would otherwise
// miss in the TLB as often as in the cache.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace surety {

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
