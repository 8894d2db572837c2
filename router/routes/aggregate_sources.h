// SPDX-License-Identifier: BSD-3-Clause
// Which of the aggregates of a class a packet is of: the one with the longest prefix that has its source.
//
// Made once for a configuration and looked up per packet: a binary search, then as many steps as prefixes lie
// around the one found. Not a Fib: rte_fib takes megabytes before its first prefix, and there is one of these
// for each class.
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
  // Masked prefixes, each once, with the place of their aggregate; `rest`: the place of the one that has all
  // others, or kNone.
  AggregateSources(std::vector<std::pair<Prefix, std::uint32_t>> prefixes, std::uint32_t rest);

  std::uint32_t of(const IpAddress& source) const {
    const std::uint32_t at = innermost(source, first_after(source));
    return at == 0 ? rest_ : entries_[at - 1].aggregate;
  }
  bool empty() const { return entries_.empty(); }  // nothing but `rest`
  std::uint32_t rest() const { return rest_; }

 private:
  struct Entry {
    Prefix prefix;
    std::uint32_t aggregate;
    std::uint32_t around;  // number of the smallest entry around this one, from 1 on; 0: none
  };
  // The number of entries that begin at the address or before it.
  std::uint32_t first_after(const IpAddress& a) const;
  // Of entry number `last` and those around it the smallest that has the address; 0: none.
  std::uint32_t innermost(const IpAddress& a, std::uint32_t last) const;

  std::vector<Entry> entries_;  // by address, then by length: what is around others stands before them
  std::uint32_t rest_ = kNone;
};

}  // namespace surety
