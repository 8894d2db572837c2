// SPDX-License-Identifier: BSD-3-Clause
// The interfaces that have an address, which is the router's while at least one interface has it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "config/address.h"

namespace surety {

class AddressHolders {
 public:
  void add(int ifindex, const Prefix& address) { holders_[address.address].emplace(ifindex, address.length); }
  // True: no interface has it.
  bool remove(int ifindex, const Prefix& address) {
    const auto at = holders_.find(address.address);
    if (at == holders_.end()) return true;
    at->second.erase({ifindex, address.length});
    if (!at->second.empty()) return false;
    holders_.erase(at);
    return true;
  }

 private:
  std::map<IpAddress, std::set<std::pair<int, std::uint8_t>>> holders_;
};

}  // namespace surety
