// SPDX-License-Identifier: BSD-3-Clause
// Finds a packet's aggregate within a class: the one with the longest prefix that has its source.
//
// Built once for a configuration and used per packet: a binary search, then one step per enclosing prefix.
// Not a Fib: rte_fib takes megabytes when empty, and there is one table for each class.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "config/address.h"

namespace surety {

class AggregateSources {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  AggregateSources() = default;
  // Masked prefixes, each once, with the index of their aggregate; `rest`: index of the aggregate of all
  // other sources, or kNone.
  AggregateSources(std::vector<std::pair<Prefix, std::uint32_t>> prefixes, std::uint32_t rest);

  std::uint32_t of(const IpAddress& source) const {
    const std::uint32_t at = innermost(source, first_after(source));
    return at == 0 ? rest_ : entries_[at - 1].aggregate;
  }
  bool empty() const { return entries_.empty(); }  // only `rest`
  std::uint32_t rest() const { return rest_; }

 private:
  struct Entry {
    Prefix prefix;
    std::uint32_t aggregate;
    std::uint32_t around;  // number of the smallest entry that contains this one, from 1 on; 0: none
  };
  // The number of entries that begin at or before the address.
  std::uint32_t first_after(const IpAddress& a) const;
  // The smallest entry with the address, among number `last` and those that contain it; 0: none.
  std::uint32_t innermost(const IpAddress& a, std::uint32_t last) const;

  std::vector<Entry> entries_;  // sorted by address, then by length: enclosing entries come first
  std::uint32_t rest_ = kNone;
};

}  // namespace surety
