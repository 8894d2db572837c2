// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/fib_tables.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_fib.h>
#include <rte_malloc.h>
#include <rte_memory.h>
#include <sys/mman.h>

#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>
#include <stdexcept>

namespace surety {
namespace {

constexpr std::size_t kMegabyte = 1 << 20;
constexpr std::size_t kFirstLevel = 64 * kMegabyte;  // 2^24 entries of 4 bytes
constexpr std::size_t kGroup = 1024;                 // 256 entries of 4 bytes
constexpr std::size_t kNode = 192;  // two in the RIB for each route, with the mempool's header

constexpr std::size_t kEmptyNode = 136;  // without padding for memory channels

std::size_t nodes(std::uint32_t routes) {
  const std::size_t ring = std::bit_ceil(std::size_t{2} * routes + 1) * sizeof(void*);
  return 2 * kNode * routes + ring + kMegabyte;
}

}  // namespace

std::size_t FibTable4::bytes(std::uint32_t routes, std::uint32_t groups) {
  return kFirstLevel + groups * kGroup + nodes(routes);
}

// The mempool of nodes, written to as it is made.
std::size_t FibTable4::empty_bytes(std::uint32_t routes) {
  return std::size_t{2} * routes * kEmptyNode;
}

FibTable4::FibTable4(const std::string& name, std::uint32_t routes, std::uint32_t groups)
    : memory_(name, bytes(routes, groups)) {
  rte_fib_conf conf{};
  conf.type = RTE_FIB_DIR24_8;
  conf.max_routes = static_cast<int>(routes);
  conf.dir24_8 = {RTE_FIB_DIR24_8_4B, groups};
  fib_ = rte_fib_create(name.c_str(), memory_.socket(), &conf);
  if (fib_ == nullptr)
    throw std::runtime_error("cannot create the FIB for IPv4: " + std::string(rte_strerror(rte_errno)) +
                             "; lower `dpdk: {max_routes: ...}`");
  memory_.release_zeroes();
}

FibTable4::~FibTable4() {
  rte_fib_free(fib_);
}

namespace {

// Unit of DPDK's accounting; the kernel's pages are smaller.
constexpr std::size_t kUnit = std::size_t{2} << 20;
constexpr std::size_t kPage = 4096;
// A table of this size will be nearly full, and is made and walked faster in pages of 2 MB.
constexpr std::size_t kLarge = std::size_t{256} << 20;

bool is_zero(const std::byte* p, std::size_t bytes) {
  std::uint64_t first = 0;
  std::memcpy(&first, p, sizeof first);
  return first == 0 && std::memcmp(p, p + sizeof first, bytes - sizeof first) == 0;
}

}  // namespace

HugeMemory table_pages(const std::string& what, std::size_t bytes) {
  try {
    return HugeMemory(bytes, HugeMemory::Pages::unreserved);
  } catch (const std::bad_alloc&) {
    throw std::runtime_error("no memory for " + what + ": " + strerror(errno) +
                             "; lower `dpdk: {max_routes: ...}`");
  }
}

// DPDK writes to all of the memory, which takes a third of the time in huge pages.
TableMemory::TableMemory(const std::string& name, std::size_t bytes) : name_(name), socket_(SOCKET_ID_ANY) {
  if (rte_eal_has_hugepages() != 0) return;
  memory_ = table_pages(name_, (bytes + kUnit - 1) / kUnit * kUnit);
  if (rte_malloc_heap_create(name_.c_str()) != 0)
    throw std::runtime_error("cannot create a heap for " + name_ + ": " + rte_strerror(rte_errno));
  if (rte_malloc_heap_memory_add(name_.c_str(), memory_->data(), memory_->bytes(), nullptr, 0, kUnit) != 0) {
    const int error = rte_errno;
    rte_malloc_heap_destroy(name_.c_str());
    throw std::runtime_error("cannot give memory to the heap " + name_ + ": " + rte_strerror(error));
  }
  socket_ = rte_malloc_heap_get_socket(name_.c_str());
}

TableMemory::~TableMemory() {
  if (!memory_) return;
  if (rte_malloc_heap_memory_remove(name_.c_str(), memory_->data(), memory_->bytes()) == 0)
    rte_malloc_heap_destroy(name_.c_str());
  else
    memory_->leak();  // DPDK still uses it
}

void TableMemory::release_zeroes() {
  if (!memory_) return;
  std::byte* const start = memory_->data();
  const std::size_t bytes = memory_->bytes(), page = bytes >= kLarge ? kUnit : kPage;
  for (std::size_t at = 0; at < bytes;) {
    std::size_t end = at;
    while (end < bytes && is_zero(start + end, page)) end += page;
    if (end > at) madvise(start + at, end - at, MADV_DONTNEED);
    at = end + page;
  }
  // A small table uses no hugepages: a single route would take as much as 512.
  if (bytes < kLarge) madvise(start, bytes, MADV_NOHUGEPAGE);
}

}  // namespace surety
