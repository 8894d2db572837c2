// SPDX-License-Identifier: BSD-3-Clause
// Memory for tables that are walked at random: in transparent huge pages where the system gives them, since
// with pages of 4 kB every access is a TLB miss as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace surety {

class HugeMemory {
 public:
  enum class Pages : std::uint8_t {
    on_demand,   // take no memory before they are used
    unreserved,  // likewise; most may never be used, so that the kernel need not have memory for all
    resident     // all used from the start, not at the packet that needs them
  };

  // Zeroed, aligned to 64 bytes (to a huge page if at least that long). The first thread that writes to a
  // page determines its NUMA node. Throws std::bad_alloc; errno is the reason.
  explicit HugeMemory(std::size_t bytes, Pages pages = Pages::on_demand);

  std::byte* data() const { return memory_.get(); }
  std::size_t bytes() const { return memory_.get_deleter().bytes; }
  // Leaves the memory to others that still use it, for good.
  void leak() { static_cast<void>(memory_.release()); }

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(std::byte* p) const;
  };
  std::unique_ptr<std::byte, Unmap> memory_;
};

// `n` objects in such memory. T must be valid as all zero bytes and is never destroyed.
template <class T>
requires std::is_trivially_destructible_v<T>
class HugeArray {
 public:
  explicit HugeArray(std::size_t n, HugeMemory::Pages pages = HugeMemory::Pages::on_demand)
      : memory_(n * sizeof(T), pages) {}

  T& operator[](std::size_t i) { return reinterpret_cast<T*>(memory_.data())[i]; }
  const T& operator[](std::size_t i) const { return reinterpret_cast<const T*>(memory_.data())[i]; }
  std::size_t bytes() const { return memory_.bytes(); }

 private:
  HugeMemory memory_;
};

}  // namespace surety
