// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/port_addresses.h"

#include <algorithm>
#include <utility>

#include "config/address.h"
#include "router/pipeline/wire/host_messages.h"

namespace surety {
namespace {

bool has(const std::vector<Prefix>& list, const IpAddress& a) {
  return std::ranges::any_of(list, [&](const Prefix& p) { return p.address == a; });
}

}  // namespace

PortAddresses::PortAddresses(std::vector<Prefix> port, const MacAddress& mac, Shared router)
    : port_(std::move(port)), router_(std::move(router)), link_local_(nd::link_local(mac)) {
  add_link_local();
}

void PortAddresses::add(const Prefix& address) {
  if (has(port_, address.address)) return;
  port_.push_back(address);
  add_link_local();
}

void PortAddresses::add_link_local() {
  const bool v6 = std::ranges::any_of(port_, [](const Prefix& p) { return p.address.is_v6(); });
  if (v6 && !has(port_, link_local_)) port_.push_back({link_local_, 64});
}

bool PortAddresses::of_port(const IpAddress& a) const {
  return has(port_, a);
}

bool PortAddresses::of_router(const IpAddress& a) const {
  return has(port_, a) || has(*router_, a);
}

bool PortAddresses::on_link(const IpAddress& a) const {
  return is_unicast(a) && !of_port(a) && std::ranges::any_of(port_, [&](const Prefix& p) {
           return p.contains(a) && reserved_name({a, p.length}).empty();
         });
}

std::optional<IpAddress> PortAddresses::source_towards(const IpAddress& peer) const {
  for (const auto& p : port_)
    if (p.contains(peer)) return p.address;
  for (const auto* list : {&std::as_const(port_), router_.get()})
    for (const auto& p : *list)
      if (p.address.is_v6() == peer.is_v6() && !is_link_local_v6(p.address)) return p.address;
  return {};
}

}  // namespace surety
