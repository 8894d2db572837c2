// SPDX-License-Identifier: BSD-3-Clause
// A port's own addresses and subnets, and those of the whole router, for what answers in their name.
#pragma once

#include <optional>
#include <vector>

#include "config/config.h"

namespace surety {

class PortAddresses {
 public:
  // `port`: with host bits. `router`: those of all ports. With an IPv6 address comes the link-local one of
  // `mac` (RFC 2464 5).
  PortAddresses(std::vector<config::Prefix> port, std::vector<config::Prefix> router, const config::Mac& mac);

  bool of_port(const config::Address& a) const;
  bool of_router(const config::Address& a) const;
  // On one of the port's subnets, as a station: not the subnet itself, its broadcast, or an own address.
  bool on_link(const config::Address& a) const;
  // From which address to speak to `peer`: the port's on its subnet, else any of its family, the port's
  // first. None: the router has none of its family.
  std::optional<config::Address> source_towards(const config::Address& peer) const;
  const std::vector<config::Prefix>& list() const { return port_; }

 private:
  std::vector<config::Prefix> port_, router_;
};

}  // namespace surety
