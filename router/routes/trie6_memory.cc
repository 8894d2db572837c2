// SPDX-License-Identifier: BSD-3-Clause
#include "router/routes/trie6_memory.h"

#include <rte_eal.h>
#include <rte_malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace surety::trie6 {
namespace {

// 40 to 70 are what routes of the Internet take, and a /128 alone in its /24 four nodes and a part of others.
constexpr std::size_t kBytesOfRoute = 320;
// Of the 65,536 groups of the first table, those that 2000::/3 can have.
constexpr std::uint32_t kMostTopGroups = 8192;
// Of so much nearly all will be there, and pages of 2 MB are found faster.
constexpr std::size_t kLarge = std::size_t{256} << 20;

}  // namespace

std::uint32_t Memory::units(std::uint32_t routes) {
  const std::size_t wanted = kFirstUnit + kLargestChange + 2 * kMuch + routes * (kBytesOfRoute / kUnit) +
                             std::size_t{std::min(routes, kMostTopGroups)} * kGroupUnits;
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
    if (p == nullptr) throw std::runtime_error("FIB for IPv6: no memory");
    memory_ = {static_cast<std::byte*>(p), Release{0}};
  } else {
    void* const p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) throw std::runtime_error("FIB for IPv6: " + std::string(strerror(errno)));
    madvise(p, size, size >= kLarge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    memory_ = {static_cast<std::byte*>(p), Release{size}};
  }
  words_ = reinterpret_cast<std::uint32_t*>(memory_.get());
  lengths_ = reinterpret_cast<std::uint8_t*>(memory_.get()) + std::size_t{end_} * kUnit;
}

void Memory::Release::operator()(std::byte* p) const {
  mapped != 0 ? static_cast<void>(munmap(p, mapped)) : rte_free(p);
}

std::uint32_t Memory::take_node() {
  if (free_nodes_.empty() && next_ < end_) return next_++ * kUnit;
  if (free_nodes_.empty()) {
    const std::uint32_t group = free_groups_.back();
    free_groups_.pop_back();
    for (std::uint32_t i = 0; i < kGroupUnits; ++i) free_nodes_.push_back(group + i * kUnit);
  }
  const std::uint32_t node = free_nodes_.back();
  free_nodes_.pop_back();
  return node;
}

std::uint32_t Memory::take_group() {
  if (free_groups_.empty()) {
    next_ += kGroupUnits;
    return (next_ - kGroupUnits) * kUnit;
  }
  const std::uint32_t group = free_groups_.back();
  free_groups_.pop_back();
  return group;
}

void Memory::reclaim() {
  const auto move = [](auto& from, auto& to) {
    to.insert(to.end(), from.begin(), from.end());
    from.clear();
  };
  move(given_nodes_, free_nodes_);
  move(given_groups_, free_groups_);
}

std::size_t Memory::used() const {
  return next_ - kFirstUnit - free_nodes_.size() - given_nodes_.size() -
         (free_groups_.size() + given_groups_.size()) * kGroupUnits;
}

}  // namespace surety::trie6
