// SPDX-License-Identifier: BSD-3-Clause
// Sets addresses, MTUs and routes of the configuration in the kernel, so that both forward alike.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "router/daemon/control.h"

namespace surety {

void Control::give_addresses(const ControlPort& c) {
  if (!config_.kernel.addresses || !c.in_kernel()) return;
  for (const Prefix& address : addresses_of(c)) {
    try {
      const Added added = commands_->add_address(c.interface, address);
      if (added == Added::now && !c.twin)  // a TAP mirror is removed with its addresses
        given_.insert({c.interface, address});
    } catch (const std::runtime_error& e) {
      spdlog::warn("{}: {}", name_of(c), e.what());
    }
  }
}

// A device that goes down loses its IPv6 addresses, and one whose driver restarts perhaps its MTU. The MTU of
// the kernel's own device is the operator's.
void Control::restore(const ControlPort& c, const LinkEvent& link) {
  give_addresses(c);
  const std::uint32_t before = c.twin ? mtu_of(c) : c.mtu.value_or(link.mtu);
  if (link.mtu == before) return;
  try {
    commands_->set_mtu(link.ifindex, before);
  } catch (const std::runtime_error& e) {
    spdlog::warn("{}: {}", name_of(c), e.what());
  }
}

// Changes addresses of existing ports; those of interfaces are set and removed with their devices, or here.
void Control::change_addresses(const config::Config& before) {
  std::unordered_map<std::string_view, const std::vector<Prefix>*> interfaces;
  for (const auto& i : before.interfaces) interfaces.emplace(i.name, &i.addresses);
  for_each_link([&](ControlPort& c) {
    if (!c.open) return;
    const std::vector<Prefix>* was = nullptr;
    if (c.index < before.ports.size())
      was = &before.ports[c.index].addresses;
    else if (const auto i = interfaces.find(name_of(c)); i != interfaces.end())
      was = i->second;
    const std::vector<Prefix>& now = addresses_of(c);
    c.addresses.emplace(now, ports_[port_of(c)]->mac(), all_addresses_);
    if (c.responder) c.responder->share_addresses(all_addresses_);
    if (was == nullptr || *was == now) return;
    for (const Prefix& address : *was)
      if (std::ranges::find(now, address) == now.end()) take_address_back(c, address);
    for (const Prefix& address : now)
      if (c.responder && std::ranges::find(*was, address) == was->end()) c.responder->add_address(address);
    if (commands_) give_addresses(c);
  });
}

void Control::take_address_back(ControlPort& c, const Prefix& address) {
  if (c.responder) c.responder->remove_address(address);
  const bool given = given_.contains({c.interface, address}) || c.twin;
  if (!given || !commands_) return;
  try {
    commands_->remove_address(c.interface, address);
  } catch (const std::runtime_error& e) {
    spdlog::warn("{}: {}", name_of(c), e.what());
  }
}

std::vector<RouteEvent> Control::kernel_routes_of(const config::Config& config) const {
  std::vector<RouteEvent> routes;
  if (!config.kernel.static_routes) return routes;
  for (const config::Route& route : config.routes) {
    RouteEvent& event = routes.emplace_back(RouteEvent{.to = route.to, .blackhole = route.blackhole});
    for (const config::NextHop& hop : route.next_hops) {
      const ControlPort* out = nullptr;
      if (hop.port) out = &control_ports_[*hop.port];
      if (hop.interface && links_.contains(interfaces_->of_definition(*hop.interface)))
        out = &links_.at(interfaces_->of_definition(*hop.interface));
      const int ifindex = out != nullptr ? std::max(0, out->interface) : 0;
      event.next_hops.push_back({.via = hop.via, .ifindex = ifindex});
    }
  }
  return routes;
}

// DPDK has changed the MTU of kernel devices already.
void Control::change_mtus(const config::Config& before) {
  for (const ControlPort& c : control_ports_) {
    const bool other = c.open && before.ports[c.index].mtu != mtu_of(c);
    if (!other || !c.twin || !commands_) continue;
    try {
      commands_->set_mtu(c.interface, mtu_of(c));
    } catch (const std::runtime_error& e) {
      spdlog::warn("{}: {}", name_of(c), e.what());
    }
  }
}

// Removes the entries set in the kernel.
void Control::forget_neighbors(const ControlPort& c) {
  if (!c.tap) return;
  c.responder->neighbors().for_each_known(
      [&](const IpAddress& address, const MacAddress&) { tell_kernel(c, address, {}); });
}

// Removed interfaces are closed before their routes; new ones have their device before.
void Control::configure(const config::Config& config, std::shared_ptr<const Interfaces> interfaces) {
  if (!interfaces) interfaces = std::make_shared<const Interfaces>(config, interfaces_.get());
  close_interfaces(config, *interfaces);
  close_ports(config);
  const config::Config before = std::exchange(config_, config);
  interfaces_ = std::move(interfaces);
  routes_.configure(config_, interfaces_);
  share_addresses();
  change_addresses(before);
  change_mtus(before);
  open_ports();
  open_interfaces();
  if (!commands_) open_kernel();
  check_sources();
  icmp_errors_.share_among(config_.port_count());
  name_interfaces_ = config.icmp.interface_information;
  if (kernel_routes_) kernel_routes_->want(kernel_routes_of(config));
}

// Removes only addresses that the kernel marks as ours: an operator's address, also one that has replaced
// ours, stays. So does an address on a device with routes of others: the kernel would remove these with the
// device's last address, and the next run finds the address again.
void Control::take_addresses_back(std::optional<int> ifindex) {
  if (given_.empty()) return;
  const auto warn = [](auto&& what) {
    try {
      what();
    } catch (const std::runtime_error& e) {
      spdlog::warn("{}", e.what());
    }
  };
  std::set<int> needed;
  warn([&] { needed = commands_->devices_of_others(); });
  for (const auto& given : given_)
    if (!needed.contains(given.first) && given.first == ifindex.value_or(given.first))
      warn([&] { commands_->remove_address(given.first, given.second); });
}

}  // namespace surety
