// SPDX-License-Identifier: BSD-3-Clause
// Binds addresses to tags of a template: a host keeps its address while it answers, so that no host behind
// another tag can take it, and the number of addresses per tag is limited.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "config/address.h"
#include "router/pipeline/interfaces/interface_record.h"

namespace surety {

class TagBindings {
 public:
  // A host has one IPv4 address and several of IPv6 (link-local, and those of RFC 8981).
  static constexpr std::uint32_t kV6PerHost = 4;

  explicit TagBindings(std::uint32_t hosts) : most_{hosts, hosts * kV6PerHost} {}

  // false: it is bound to another tag, or this one has reached its limit.
  bool may_bind(const IpAddress& address, InterfaceIndex interface) const {
    if (const auto owner = find(address)) return *owner == interface;
    const auto count = counts_.find(key(interface, address));
    return (count == counts_.end() ? 0 : count->second) < most_[address.is_v6()];
  }
  bool bind(const IpAddress& address, InterfaceIndex interface) {
    if (!may_bind(address, interface)) return false;
    if (owners_.emplace(address, interface).second) ++counts_[key(interface, address)];
    return true;
  }
  void release(const IpAddress& address) {
    const auto at = owners_.find(address);
    if (at == owners_.end()) return;
    const auto count = counts_.find(key(at->second, address));
    if (--count->second == 0) counts_.erase(count);
    owners_.erase(at);
  }
  std::optional<InterfaceIndex> find(const IpAddress& address) const {
    const auto at = owners_.find(address);
    return at == owners_.end() ? std::nullopt : std::optional(at->second);
  }
  std::size_t size() const { return owners_.size(); }
  // The tags behind which an address is bound, in order.
  std::vector<InterfaceIndex> tags() const {
    std::set<InterfaceIndex> tags;
    for (const auto& [at, count] : counts_) tags.insert(static_cast<InterfaceIndex>(at >> 1));
    return {tags.begin(), tags.end()};
  }

 private:
  struct Hash {
    std::size_t operator()(const IpAddress& a) const {
      return (a.high * 0x9e3779b97f4a7c15u) ^ (a.low * 0xc2b2ae3d27d4eb4fu);
    }
  };
  static std::uint32_t key(InterfaceIndex interface, const IpAddress& address) {
    return std::uint32_t{interface} << 1 | address.is_v6();
  }

  std::uint32_t most_[2];
  std::unordered_map<IpAddress, InterfaceIndex, Hash> owners_;
  std::unordered_map<std::uint32_t, std::uint32_t> counts_;
};

}  // namespace surety
