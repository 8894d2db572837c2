// SPDX-License-Identifier: BSD-3-Clause
// The addresses that each station of a link is known by, so that one station cannot keep a table of
// neighbours for itself.
//
// A host has one IPv4 address and several of IPv6 (RFC 8981); proxy ARP and hypervisors answer for many. A
// station may have all the room that others do not want: when they do, the one that has most gives way, as
// long as it has more than kPart addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "router/routes/prefixes.h"

namespace surety {

class StationAddresses {
 public:
  static constexpr std::size_t kPart = 16;
  using Addresses = std::map<std::uint64_t, IpAddress>;  // by turn: in the order they became known

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
  // Returns the addresses of the station that has most; nullptr if no station has more than its part.
  const Addresses* beyond_part() const {
    if (by_size_.empty() || by_size_.rbegin()->first <= kPart) return nullptr;
    return &stations_.find(by_size_.rbegin()->second)->second;
  }

 private:
  std::map<MacAddress, Addresses> stations_;
  std::set<std::pair<std::size_t, MacAddress>> by_size_;
};

}  // namespace surety
