// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/trie6_memory.h"

#include <rte_eal.h>
#include <rte_malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <stdexcept>

#include "router/pipeline/routes/fib_tables.h"

namespace surety::trie6 {
namespace {

// Nodes and groups at most; routes of the Internet take one.
constexpr std::size_t kUnitsOfRoute = 4 + 3;
// Memory of this size will be nearly full, and pages of 2 MB are found faster.
constexpr std::size_t kLarge = std::size_t{256} << 20;

}  // namespace

std::uint32_t Memory::units(std::uint32_t routes) {
  const std::size_t changing = kLargestChange + 2 * (kLargestChange + kMuch);  // plus freed nodes and groups
  const std::size_t wanted = kFirstUnit + changing + routes * kUnitsOfRoute +
                             std::size_t{std::min(routes, 1u << kTopBits)} * kGroupUnits;
  return static_cast<std::uint32_t>(std::min<std::size_t>(wanted, UINT32_MAX / kUnit));
}

// A length for each word.
std::size_t Memory::bytes(std::uint32_t routes) {
  return std::size_t{units(routes)} * (kUnit + kUnit / 4);
}

Memory::Memory(std::uint32_t routes) : end_(units(routes)) {
  const std::size_t size = bytes(routes);
  if (rte_eal_has_hugepages() != 0) {
    void* const p = rte_zmalloc("fib6", size, kUnit);
    if (p == nullptr)
      throw std::runtime_error(
          "no memory for the FIB for IPv6; reserve more hugepages, or lower `dpdk: {max_routes: ...}`");
    eal_.reset(static_cast<std::byte*>(p));
  } else {
    memory_ = table_pages("the FIB for IPv6", size);
    if (size < kLarge) madvise(memory_->data(), memory_->bytes(), MADV_NOHUGEPAGE);
  }
  std::byte* const start = memory_ ? memory_->data() : eal_.get();
  words_ = reinterpret_cast<std::uint32_t*>(start);
  lengths_ = reinterpret_cast<std::uint8_t*>(start) + std::size_t{end_} * kUnit;
  given_nodes_.reserve(kMuch + kLargestChange);
  given_groups_.reserve((kMuch + kLargestChange) / kGroupUnits);
}

void Memory::Release::operator()(std::byte* p) const {
  rte_free(p);
}

void Memory::push(Free& list, std::uint32_t offset) {
  *word(offset / 4) = list.first;
  list.first = offset;
  ++list.size;
}

std::uint32_t Memory::pop(Free& list) {
  const std::uint32_t offset = list.first;
  list.first = *word(offset / 4);
  --list.size;
  return offset;
}

std::uint32_t Memory::take_node() {
  if (free_nodes_.size == 0 && next_ < end_) return next_++ * kUnit;
  if (free_nodes_.size == 0) {
    const std::uint32_t group = pop(free_groups_);
    for (std::uint32_t i = 0; i < kGroupUnits; ++i) push(free_nodes_, group + i * kUnit);
  }
  return pop(free_nodes_);
}

std::uint32_t Memory::take_group() {
  if (free_groups_.size > 0) return pop(free_groups_);
  next_ += kGroupUnits;
  return (next_ - kGroupUnits) * kUnit;
}

void Memory::reclaim() {
  for (const std::uint32_t node : given_nodes_) push(free_nodes_, node);
  for (const std::uint32_t group : given_groups_) push(free_groups_, group);
  given_nodes_.clear();
  given_groups_.clear();
}

std::size_t Memory::used() const {
  return next_ - kFirstUnit - free_nodes_.size - given_nodes_.size() -
         (free_groups_.size + given_groups_.size()) * kGroupUnits;
}

}  // namespace surety::trie6
