// SPDX-License-Identifier: BSD-3-Clause
// Memory for tables that are walked at random: in transparent huge pages where the system gives them, since
// with pages of 4 kB every access is a TLB miss as well.
#pragma once

#include <cstddef>
#include <memory>

namespace surety {

class HugeMemory {
 public:
  // Zeroed, aligned to 64 bytes (to a huge page if at least that long). The first thread that writes to a
  // page determines its NUMA node. Throws std::bad_alloc.
  explicit HugeMemory(std::size_t bytes);

  std::byte* data() const { return memory_.get(); }
  std::size_t bytes() const { return memory_.get_deleter().bytes; }

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(std::byte* p) const;
  };
  std::unique_ptr<std::byte, Unmap> memory_;
};

}  // namespace surety
