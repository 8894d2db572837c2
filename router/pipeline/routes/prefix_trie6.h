// SPDX-License-Identifier: BSD-3-Clause
// Longest prefix match of IPv6, for prefixes of more than 16 bits.
//
// One thread writes while others look up; a result is the value before or after a change. A lookup proceeds
// step by step for 64 addresses at a time, and prefetches the memory of the next step (trie6_format.h has the
// steps). rte_fib6 takes 8 bits per step, each in a cache line of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "config/config.h"
#include "router/pipeline/routes/prefix_table.h"
#include "router/pipeline/routes/trie6_memory.h"

namespace surety {

class PrefixTrie6 {
 public:
  static bool holds(const Prefix& p) { return p.address.is_v6() && p.length > trie6::kTopBits; }
  static constexpr std::uint32_t kMaxValue = (1u << 30) - 1;

  // Room for this many prefixes, of any length and whatever was stored before; beyond 9 million it depends on
  // the prefixes (trie6_memory.h). Needs EAL; throws std::runtime_error with the cause without memory.
  explicit PrefixTrie6(std::uint32_t routes);

  // --- the writing thread ---

  // Adds or replaces a prefix for which holds() is true; host bits are ignored. false: no room, or no memory
  // for its bookkeeping; nothing changed.
  bool add(const Prefix& prefix, std::uint32_t value);
  // false: there was no such prefix. Needs no memory.
  bool remove(const Prefix& prefix);
  // Called before memory that a reader may still use is reused. Without it there must be no lookups during
  // changes.
  void set_quiesce(std::function<void()> quiesce) { quiesce_ = std::move(quiesce); }

  std::size_t size() const { return routes_.size(); }
  std::size_t units() const { return memory_.used(); }  // units of 64 bytes in use
  // EAL memory of a table, with hugepages, in bytes.
  static std::size_t bytes(std::uint32_t routes) { return trie6::Memory::bytes(routes); }
  // Memory of a table at most without hugepages, with the bookkeeping, in bytes.
  static std::size_t most_bytes(std::uint32_t routes);

  // --- other threads ---

  // values[i]: the value of the longest prefix that contains addresses[i]; 0: none.
  void lookup(const std::uint8_t (*addresses)[16], std::uint64_t* values, unsigned n) const;

 private:
  bool make_room();
  trie6::Cell above(const Prefix& prefix) const;

  std::uint32_t most_;
  trie6::Memory memory_;
  PrefixTable<std::uint32_t> routes_;
  std::array<std::uint32_t, 129> of_length_{};
  std::function<void()> quiesce_;
};

}  // namespace surety
