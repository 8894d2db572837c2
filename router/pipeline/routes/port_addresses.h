// SPDX-License-Identifier: BSD-3-Clause
// A port's own addresses and subnets, and those of the whole router, for what answers in their name.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "config/config.h"

namespace surety {

// The interfaces that have an address, which is the router's while at least one interface has it.
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

class PortAddresses {
 public:
  // `port`: with host bits. `router`: those of all ports and interfaces. An IPv6 address adds the link-local
  // one of `mac` (RFC 2464 5).
  using Shared = std::shared_ptr<const std::vector<Prefix>>;
  PortAddresses(std::vector<Prefix> port, const MacAddress& mac, Shared router);
  PortAddresses(std::vector<Prefix> port, std::vector<Prefix> router, const MacAddress& mac)
      : PortAddresses(std::move(port), mac, std::make_shared<const std::vector<Prefix>>(std::move(router))) {}

  void share(Shared router) { router_ = std::move(router); }
  void add(const Prefix& address);
  void remove(const Prefix& address) { std::erase(port_, address); }

  bool of_port(const IpAddress& a) const;
  bool of_router(const IpAddress& a) const;
  // True for a host address on one of the port's subnets: not the subnet itself, its broadcast, or an own
  // address.
  bool on_link(const IpAddress& a) const;
  // Source address for packets to `peer`: the port's on its subnet, else any of its family, the port's first.
  // nullopt: the router has none of its family.
  std::optional<IpAddress> source_towards(const IpAddress& peer) const;
  const std::vector<Prefix>& list() const { return port_; }

 private:
  void add_link_local();

  std::vector<Prefix> port_;
  Shared router_;  // one for all
  IpAddress link_local_;
};

}  // namespace surety
