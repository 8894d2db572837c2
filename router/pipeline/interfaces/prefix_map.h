// SPDX-License-Identifier: BSD-3-Clause
// Finds the value of the longest prefix that has an address: the aggregate of a source within a class, or the
// filter or the rule of a source on a link.
//
// Built once for a configuration and used per packet: a binary search, then one step per enclosing prefix.
// Not a Fib: rte_fib takes megabytes when empty, and there is one table for each class and link.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "config/address.h"

namespace surety {

class PrefixMap {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  PrefixMap() = default;
  // Masked prefixes, each once, with their values; `rest`: value of all other addresses.
  PrefixMap(std::vector<std::pair<Prefix, std::uint32_t>> prefixes, std::uint32_t rest);

  std::uint32_t of(const IpAddress& address) const {
    const std::uint32_t at = innermost(address, first_after(address));
    return at == 0 ? rest_ : entries_[at - 1].value;
  }
  bool empty() const { return entries_.empty(); }  // only `rest`
  std::uint32_t rest() const { return rest_; }

 private:
  struct Entry {
    Prefix prefix;
    std::uint32_t value;
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
