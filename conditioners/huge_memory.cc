// SPDX-License-Identifier: BSD-3-Clause
#include "conditioners/huge_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace surety {

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kPage = 4096;

std::size_t whole_pages(std::size_t bytes) {
  return (std::max<std::size_t>(bytes, 1) + kPage - 1) / kPage * kPage;
}

// Maps memory that starts at a huge page, as huge pages require, and ends at a small one.
std::byte* map(std::size_t bytes, int flags) {
  const std::size_t slack = bytes >= kHugePage ? kHugePage : 0;
  void* const p =
      mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  auto* const whole = static_cast<std::byte*>(p);
  if (slack == 0) return whole;
  const std::size_t before = (kHugePage - reinterpret_cast<std::uintptr_t>(whole) % kHugePage) % kHugePage;
  std::byte* const start = whole + before;
  if (before != 0) munmap(whole, before);
  if (slack != before) munmap(start + bytes, slack - before);
  madvise(start, bytes, MADV_HUGEPAGE);
  return start;
}

}  // namespace

HugeMemory::HugeMemory(std::size_t bytes, Pages pages)
    : memory_(map(whole_pages(bytes), pages == Pages::unreserved ? MAP_NORESERVE : 0),
              Unmap{whole_pages(bytes)}) {
  if (pages != Pages::resident) return;
  for (std::size_t i = 0; i < this->bytes(); i += kPage)
    const_cast<volatile std::byte*>(data())[i] = std::byte{0};
}

void HugeMemory::Unmap::operator()(std::byte* p) const {
  munmap(p, bytes);
}

}  // namespace surety
