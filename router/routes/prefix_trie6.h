// SPDX-License-Identifier: BSD-3-Clause
// Longest prefix match of IPv6, for prefixes of more than 16 bits.
//
// One thread writes while others look up; an answer is the value before or after a change. A look-up goes
// step by step for 64 addresses at a time, and asks for the memory of the next step while it does this one
// (trie6_format.h says what there is to step through). rte_fib6 steps through 8 bits at a time, each a line
// of memory that no other route is in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "config/config.h"
#include "router/routes/prefix_table.h"
#include "router/routes/trie6_memory.h"

namespace surety {

class PrefixTrie6 {
 public:
  static bool holds(const Prefix& p) { return p.address.is_v6() && p.length > trie6::kTopBits; }
  static constexpr std::uint32_t kMaxValue = (1u << 30) - 1;

  // Room for so many prefixes, whichever they are and whatever was there before; beyond 9 million it depends
  // on them (trie6_memory.h). Needs EAL; throws std::runtime_error, naming the cause, without memory.
  explicit PrefixTrie6(std::uint32_t routes);

  // --- the thread that writes ---

  // Adds or replaces a prefix that holds() is true of; host bits are ignored. false: no room, or no memory to
  // keep account of it; nothing changed.
  bool add(const Prefix& prefix, std::uint32_t value);
  // false: there was none. Needs no memory.
  bool remove(const Prefix& prefix);
  // Called before memory is used again that a reader may still stand in. Without it there must be no look-up
  // during changes.
  void set_quiesce(std::function<void()> quiesce) { quiesce_ = std::move(quiesce); }

  std::size_t size() const { return routes_.size(); }
  std::size_t units() const { return memory_.used(); }  // of 64 bytes, in use
  // What EAL must have for one, with hugepages.
  static std::size_t bytes(std::uint32_t routes) { return trie6::Memory::bytes(routes); }
  // What one takes at most without, the account of its prefixes included.
  static std::size_t most_bytes(std::uint32_t routes);

  // --- others ---

  // values[i]: that of the longest prefix that contains addresses[i]; 0: of none.
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
