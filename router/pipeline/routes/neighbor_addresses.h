// SPDX-License-Identifier: BSD-3-Clause
// The addresses of each MAC address on a link, so that one neighbour cannot fill a table.
//
// A host has one IPv4 address and several of IPv6 (RFC 8981); proxy ARP and hypervisors answer for many. A
// MAC address may use all room that others do not need; otherwise the one with the most addresses yields, as
// long as it has more than kPart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "router/pipeline/routes/prefix_table.h"

namespace surety {

class NeighborAddresses {
 public:
  static constexpr std::size_t kPart = 16;
  using Addresses = std::map<std::uint64_t, IpAddress>;  // indexed by turn: in the order of resolution

  void add(const MacAddress& station, std::uint64_t turn, const IpAddress& address) {
    Addresses& all = stations_[station];
    by_size_.erase({all.size(), station});
    all.emplace(turn, address);
    by_size_.emplace(all.size(), station);
  }
  void remove(const MacAddress& station, std::uint64_t turn) {
    const auto at = stations_.find(station);
    if (at == stations_.end()) return;
    by_size_.erase({at->second.size(), station});
    at->second.erase(turn);
    if (at->second.empty())
      stations_.erase(at);
    else
      by_size_.emplace(at->second.size(), station);
  }
  // The addresses of the MAC address that has most; nullptr if none has more than its part.
  const Addresses* beyond_part() const {
    if (by_size_.empty() || by_size_.rbegin()->first <= kPart) return nullptr;
    return &stations_.find(by_size_.rbegin()->second)->second;
  }

 private:
  std::map<MacAddress, Addresses> stations_;
  std::set<std::pair<std::size_t, MacAddress>> by_size_;
};

}  // namespace surety
