// SPDX-License-Identifier: BSD-3-Clause
// The forwarding information base of both families: longest prefix match to RouteTarget::encode() values.
//
// IPv4 over rte_fib (DIR24_8), AVX-512 lookups where the CPU and EAL's --force-max-simd-bitwidth allow it;
// IPv6 over a table of our own (prefix_trie6.h). One thread writes while workers look up. A lookup returns
// the value before or after a change, never anything else: memory freed by a change is reused only after
// quiesce(), and a result "none" of rte_fib during a change is looked up again, since a freed group reads as
// zero for a moment, which means "none".
//
// Without hugepages IPv4's table starts small, and is replaced by a larger one when it is full
// (fib_tables.h): memory follows the number of routes.
//
// A default route is kept beside the tables: it changes in one store, while rte_fib would write every gap
// between all other routes. For the same reason short prefixes of IPv6 have a table of their own,
// ShortPrefixes.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "config/config.h"
#include "router/pipeline/routes/fib_tables.h"
#include "router/pipeline/routes/prefix_trie6.h"
#include "router/pipeline/routes/route_generations.h"
#include "router/pipeline/routes/top_prefixes.h"

namespace surety {

// IPv6 prefixes of at most 16 bits, beside the table of the longer ones: one value for each value of an
// address's first 16 bits.
//
// The table of longer prefixes would store such a prefix in every gap between the longer routes inside it, a
// large part of a full table. Here the widest takes 32,768 stores. One thread writes while others look up; a
// reader gets the value before or after a change.
class ShortPrefixes {
 public:
  static constexpr std::uint8_t kBits = 16;
  static bool holds(const Prefix& p) { return p.address.is_v6() && p.length > 0 && p.length <= kBits; }

  class Slots {
   public:
    // The value of the longest prefix that contains the address; 0: none.
    std::uint32_t of(const std::uint8_t* address) const {
      return values_[std::size_t{address[0]} << 8 | address[1]].load(std::memory_order_relaxed);
    }

   private:
    friend ShortPrefixes;
    std::array<std::atomic<std::uint32_t>, 1 << kBits> values_{};
  };

  // Adds or replaces a prefix for which holds() is true; host bits are ignored.
  void set(const Prefix& prefix, std::uint32_t value);
  // false: there was no such prefix.
  bool remove(const Prefix& prefix);

  // Thread-safe; nullptr: there has never been a prefix.
  const Slots* slots() const { return published_.load(std::memory_order_acquire); }

 private:
  struct Node {
    std::uint32_t value = 0;
    bool used = false;
  };
  static std::uint32_t node_of(const Prefix& prefix);
  void make();
  void fill(std::uint32_t node, std::uint32_t value);

  // A heap of prefixes: the two children of node n, one bit longer, are 2n and 2n + 1; the first node is
  // ::/0.
  std::unique_ptr<std::array<Node, 2 << kBits>> nodes_;
  std::unique_ptr<Slots> slots_;
  std::atomic<const Slots*> published_{nullptr};
};

class Fib {
 public:
  // Room for `max_routes` of each family; for IPv4 as far as there are groups for prefixes beyond /24. Needs
  // EAL; throws std::runtime_error with the cause when there is not enough memory. `name`: at most 12
  // characters, unique in the process.
  Fib(const std::string& name, std::uint32_t max_routes);
  Fib(const Fib&) = delete;
  Fib& operator=(const Fib&) = delete;

  // --- the control thread ---

  // Adds or replaces; host bits of the prefix are ignored. IPv4 prefixes are below 224.0.0.0
  // (is_forwardable()). false: no room, or a value above 30 bits; nothing has changed.
  bool add(const Prefix& prefix, std::uint32_t value);
  // false: there was no such route.
  bool remove(const Prefix& prefix);

  // Called when all workers must pass a quiescent state before memory is used again
  // (rte_rcu_qsbr_synchronize). Without it there must be no lookups during changes.
  void set_quiesce(std::function<void()> quiesce);

  // EAL memory of a Fib in bytes: 0 without hugepages.
  static std::size_t memory_bytes(std::uint32_t max_routes, bool hugepages);
  // Resident memory without hugepages, in bytes: with the routes of the initial tables, and with `max_routes`
  // of each family spread over the address space.
  struct Resident {
    std::size_t least4, most4, least6, most6;
  };
  static Resident resident(std::uint32_t max_routes);

  // --- workers ---

  // values[i]: the value of the longest prefix that contains addresses[i] (host order), or kNextHopNone's.
  void lookup4(const std::uint32_t* addresses, std::uint64_t* values, unsigned n) const;
  void lookup6(const std::uint8_t (*addresses)[16], std::uint64_t* values, unsigned n) const;
  // A result of lookup6() for an address with this first half is valid while the generation is what it was
  // before the lookup: a change is visible here before add() or remove() returns.
  std::uint64_t generation6(std::uint64_t high) const { return generations6_.of(high); }

 private:
  class Change;
  bool add6(const Prefix& prefix, std::uint32_t value);
  bool remove6(const Prefix& prefix);
  bool may_have_freed(std::uint32_t address, std::uint8_t length, std::uint32_t value) const;
  bool set_default(bool v6, std::uint32_t value);
  bool set_top(std::size_t which, std::optional<std::uint32_t> value);
  bool put4(std::uint32_t address, std::uint8_t length, std::uint32_t value);
  bool remove4(std::uint32_t address, std::uint8_t length);
  bool add4(std::uint32_t address, std::uint8_t length, std::uint32_t value);
  bool grow4();
  void quiesce();

  std::string name_;
  std::uint32_t max_routes_;
  std::uint32_t routes4_;  // routes that its table has room for
  bool can_grow4_ = true;  // no allocation has failed
  bool freed_ = false;     // groups may have been freed since the last quiesce()
  std::unique_ptr<FibTable4> table4_;
  std::atomic<rte_fib*> v4_{nullptr};
  std::atomic<std::uint32_t> changes_{0};  // IPv4 changes begun and ended; odd: one is in progress
  std::array<std::atomic<std::uint32_t>, 2> default_{};  // indexed by family
  TopPrefixes top_;
  PrefixTrie6 table6_;
  ShortPrefixes short6_;
  RouteGenerations generations6_;
  std::function<void()> quiesce_;
};

}  // namespace surety
