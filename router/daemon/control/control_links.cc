// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/control/control_links.h"

#include <utility>

namespace surety {

namespace {

PortAddresses::Shared addresses_in(const config::Config& c) {
  std::vector<Prefix> all;
  for (const auto& p : c.ports) all.insert(all.end(), p.addresses.begin(), p.addresses.end());
  for (const auto& i : c.interfaces) all.insert(all.end(), i.addresses.begin(), i.addresses.end());
  return std::make_shared<const std::vector<Prefix>>(std::move(all));
}

}  // namespace

ControlLinks::ControlLinks(config::Config config, std::shared_ptr<const Interfaces> interfaces,
                           std::size_t ports)
    : config_(std::move(config)),
      interfaces_(interfaces ? std::move(interfaces) : std::make_shared<const Interfaces>(config_)),
      router_addresses_(addresses_in(config_)),
      ports_(ports) {
  for (std::size_t p = 0; p < ports; ++p) ports_[p].index = static_cast<InterfaceIndex>(p);
}

config::Config ControlLinks::configure(const config::Config& config,
                                       std::shared_ptr<const Interfaces> interfaces) {
  interfaces_ = std::move(interfaces);
  router_addresses_ = addresses_in(config);
  return std::exchange(config_, config);
}

ControlPort* ControlLinks::link(InterfaceIndex interface) {
  if (interface < ports_.size()) return ports_[interface].open ? &ports_[interface] : nullptr;
  const auto at = tagged_.find((*interfaces_)[interface].link);
  return at == tagged_.end() ? nullptr : &at->second;
}

ControlPort* ControlLinks::link_with(int ifindex) {
  const auto at = by_device_.find(ifindex);
  return at == by_device_.end() ? nullptr : link(at->second);
}

const std::vector<Prefix>& ControlLinks::addresses_of(const ControlPort& c) const {
  return c.index < config_.ports.size() ? config_.ports[c.index].addresses
                                        : config_.interfaces[record_of(c).definition].addresses;
}

}  // namespace surety
