// SPDX-License-Identifier: BSD-3-Clause
// The forwarding information base of both families: longest prefix match to RouteTarget::encode() values.
//
// IPv4 over rte_fib (DIR24_8), AVX-512 lookups where the CPU and EAL's --force-max-simd-bitwidth allow it;
// IPv6 over a table of our own (prefix_trie6.h). One thread writes while workers look up. A lookup answers
// with the value before or after a change, never with anything else: memory that a change has freed is used
// again only after quiesce(), and an answer "none" of rte_fib during a change is asked twice, since a freed
// group reads as zero for a moment, and zero is what says "none".
//
// Without hugepages IPv4's table begins small, and a larger one takes its place once it is full
// (fib_tables.h): memory goes with the routes that there are.
//
// A default route stands beside the tables: it changes in one store, where rte_fib would write every gap
// between all other routes. For the same reason short prefixes of IPv6 have a table of their own
// (short_prefixes.h).
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
#include "router/routes/fib_tables.h"
#include "router/routes/prefix_trie6.h"
#include "router/routes/route_generations.h"
#include "router/routes/short_prefixes.h"
#include "router/routes/top_prefixes.h"

namespace surety {

class Fib {
 public:
  // Room for `max_routes` of each family, of IPv4 as far as there are groups for those beyond /24. Needs EAL;
  // throws std::runtime_error, naming the cause, when there is not the memory. `name`: at most 12 characters,
  // unique in the process.
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

  // What EAL must have for a Fib in bytes: nothing without hugepages.
  static std::size_t memory_bytes(std::uint32_t max_routes, bool hugepages);
  // What a router has of it without hugepages, in bytes: with the routes that the first tables have room for,
  // and with `max_routes` of each family all over the address space.
  struct Resident {
    std::size_t least4, most4, least6, most6;
  };
  static Resident resident(std::uint32_t max_routes);

  // --- workers ---

  // values[i]: the value of the longest prefix that contains addresses[i] (host
  // order), or that of kNextHopNone.
  void lookup4(const std::uint32_t* addresses, std::uint64_t* values, unsigned n) const;
  void lookup6(const std::uint8_t (*addresses)[16], std::uint64_t* values, unsigned n) const;
  // What lookup6() answers for an address whose first half this is holds as long as this stays what it was
  // before that: a change that has been made is seen here before add() or remove() returns.
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
  std::uint32_t routes4_;  // that its table has room for now
  bool can_grow4_ = true;  // memory has lasted so far
  bool freed_ = false;     // groups, perhaps, since the last quiesce()
  std::unique_ptr<FibTable4> table4_;
  std::atomic<rte_fib*> v4_{nullptr};
  std::atomic<std::uint32_t> changes_{0};                // of IPv4; odd: there is one right now
  std::array<std::atomic<std::uint32_t>, 2> default_{};  // by family
  TopPrefixes top_;
  PrefixTrie6 table6_;
  ShortPrefixes short6_;
  RouteGenerations generations6_;
  std::function<void()> quiesce_;
};

}  // namespace surety
