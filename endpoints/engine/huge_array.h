// SPDX-License-Identifier: BSD-3-Clause
// Memory for many flows, taken once: zeroed, in huge pages where there are any, aligned to a cache line.
//
// T must be valid as all zero bytes and is never destroyed. Throws std::bad_alloc.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace surety::endpoints {

template <class T>
requires std::is_trivially_destructible_v<T>
class HugeArray {
 public:
  explicit HugeArray(std::size_t n) : used_(n * sizeof(T)), bytes_(round_up(used_)) {
    if (bytes_ >= kHugePage) bytes_ += kHugePage;  // room to begin at a huge page
    mapped_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped_ == MAP_FAILED) throw std::bad_alloc();
    auto start = reinterpret_cast<std::uintptr_t>(mapped_);
    if (bytes_ >= kHugePage) {
      start = (start + kHugePage - 1) / kHugePage * kHugePage;
      madvise(mapped_, bytes_, MADV_HUGEPAGE);
    }
    data_ = reinterpret_cast<T*>(start);
    // Now rather than when the packet comes that needs it.
    for (std::size_t i = 0; i < used_; i += kPage)
      *reinterpret_cast<volatile std::byte*>(start + i) = std::byte{0};
  }
  ~HugeArray() { munmap(mapped_, bytes_); }
  HugeArray(const HugeArray&) = delete;
  HugeArray& operator=(const HugeArray&) = delete;

  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  std::size_t bytes() const { return used_; }

 private:
  static constexpr std::size_t kPage = 4096, kHugePage = std::size_t{2} << 20;
  static std::size_t round_up(std::size_t n) { return (n + kPage) / kPage * kPage; }

  std::size_t used_, bytes_;
  void* mapped_ = nullptr;
  T* data_ = nullptr;
};

}  // namespace surety::endpoints
