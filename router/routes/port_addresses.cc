// SPDX-License-Identifier: BSD-3-Clause
#include "router/routes/port_addresses.h"

#include <algorithm>

#include "config/address.h"
#include "router/wire/config_address.h"
#include "router/wire/neighbor_discovery.h"

namespace surety {
namespace {

bool has(const std::vector<config::Prefix>& list, const config::Address& a) {
  return std::ranges::any_of(list, [&](const config::Prefix& p) { return p.address == a; });
}

}  // namespace

PortAddresses::PortAddresses(std::vector<config::Prefix> port, std::vector<config::Prefix> router,
                             const config::Mac& mac)
    : port_(std::move(port)), router_(std::move(router)) {
  const bool v6 = std::ranges::any_of(port_, [](const config::Prefix& p) { return p.address.v6; });
  if (v6) port_.push_back({from_wire(nd::link_local(mac.bytes)), 64});
}

bool PortAddresses::of_port(const config::Address& a) const {
  return has(port_, a);
}

bool PortAddresses::of_router(const config::Address& a) const {
  return has(port_, a) || has(router_, a);
}

bool PortAddresses::on_link(const config::Address& a) const {
  return config::is_unicast(a) && !of_port(a) && std::ranges::any_of(port_, [&](const config::Prefix& p) {
           return p.contains(a) && config::reserved_name({a, p.length}).empty();
         });
}

std::optional<config::Address> PortAddresses::source_towards(const config::Address& peer) const {
  for (const auto& p : port_)
    if (p.contains(peer)) return p.address;
  for (const auto* list : {&port_, &router_})
    for (const auto& p : *list)
      if (p.address.v6 == peer.v6 && !config::is_link_local_v6(p.address)) return p.address;
  return {};
}

}  // namespace surety
