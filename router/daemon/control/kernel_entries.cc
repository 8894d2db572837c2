// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/control/kernel_entries.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <stdexcept>

namespace surety {

KernelEntries::~KernelEntries() {
  if (!left_) links_.for_each([&](const ControlPort& c) { remove_neighbors(c); });
  kernel_routes_.reset();
  take_back({});
}

void KernelEntries::add_addresses(const ControlPort& c) {
  if (!commands_ || !links_.config().kernel.addresses || !c.in_kernel()) return;
  for (const Prefix& address : links_.addresses_of(c)) {
    try {
      const Added added = commands_->add_address(c.interface, address);
      refused_.erase({c.interface, address});
      if (added == Added::now && !c.twin)  // a TAP mirror is removed with its addresses
        given_.insert({c.interface, address});
    } catch (const std::runtime_error& e) {
      refused_[{c.interface, address}] = e.what();
    }
  }
}

void KernelEntries::remove_address(const ControlPort& c, const Prefix& address) {
  refused_.erase({c.interface, address});
  const bool given = given_.contains({c.interface, address}) || c.twin;
  if (!given || !commands_) return;
  try {
    commands_->remove_address(c.interface, address);
  } catch (const std::runtime_error& e) {
    spdlog::warn("{}: {}", links_.name_of(c), e.what());
  }
}

void KernelEntries::remove_addresses(int ifindex) {
  take_back(ifindex);
}

void KernelEntries::forget_device(int ifindex) {
  std::erase_if(given_, [&](const DeviceAddress& given) { return given.first == ifindex; });
  std::erase_if(refused_, [&](const auto& refused) { return refused.first.first == ifindex; });
}

// Removes only addresses that the kernel marks as ours: an operator's address, also one that has replaced
// ours, stays. So does an address on a device with routes of others: the kernel would remove these with the
// device's last address, and the next run finds the address again.
void KernelEntries::take_back(std::optional<int> ifindex) {
  if (given_.empty()) return;
  const auto warn = [](auto&& what) {
    try {
      what();
    } catch (const std::runtime_error& e) {
      spdlog::warn("{}", e.what());
    }
  };
  // At the end: the old process of an upgrade may have had a port in the kernel, and this one none.
  if (!commands_ && !ifindex) warn([&] { connect(); });
  if (!commands_) return;
  std::set<int> needed;
  warn([&] { needed = commands_->devices_of_others(); });
  for (const auto& given : given_)
    if (!needed.contains(given.first) && given.first == ifindex.value_or(given.first))
      warn([&] { commands_->remove_address(given.first, given.second); });
}

// A device that goes down loses its IPv6 addresses, and one whose driver restarts perhaps its MTU. The MTU of
// the kernel's own device is the operator's.
void KernelEntries::restore(const ControlPort& c, const LinkEvent& link) {
  add_addresses(c);
  const std::uint32_t before = c.twin ? links_.mtu_of(c) : c.state.mtu.value_or(link.mtu);
  if (!commands_ || link.mtu == before) return;
  try {
    commands_->set_mtu(link.ifindex, before);
  } catch (const std::runtime_error& e) {
    spdlog::warn("{}: {}", links_.name_of(c), e.what());
  }
}

// DPDK has changed the MTU of kernel devices already.
void KernelEntries::change_mtus(const config::Config& before) {
  for (const ControlPort& c : links_.ports()) {
    const bool other = c.open && before.ports[c.index].mtu != links_.mtu_of(c);
    if (!other || !c.twin || !commands_) continue;
    try {
      commands_->set_mtu(c.interface, links_.mtu_of(c));
    } catch (const std::runtime_error& e) {
      spdlog::warn("{}: {}", links_.name_of(c), e.what());
    }
  }
}

// The kernel's own sessions need the same neighbours, and other hosts fill its table.
void KernelEntries::set_neighbor(const ControlPort& c, const IpAddress& address,
                                 const std::optional<MacAddress>& mac, bool pinned) {
  if (!c.in_kernel() || !commands_ || routes_.fixed(c.interface, address)) return;
  try {
    if (!mac) return commands_->remove_neighbor(c.interface, address);
    pinned ? commands_->pin_neighbor(c.interface, address, *mac)
           : commands_->keep_neighbor(c.interface, address, *mac);
  } catch (const std::runtime_error& e) {
    spdlog::debug("{}", e.what());
  }
}

// A TAP mirror is removed with its neighbours.
void KernelEntries::remove_neighbors(const ControlPort& c) {
  if (!c.tap || !c.responder) return;
  c.responder->neighbors().for_each_known(
      [&](const IpAddress& address, const MacAddress&) { set_neighbor(c, address, {}); });
}

std::vector<RouteEvent> KernelEntries::routes_of_config() const {
  std::vector<RouteEvent> routes;
  const config::Config& config = links_.config();
  if (!config.kernel.static_routes) return routes;
  for (const config::Route& route : config.routes) {
    if (std::ranges::find(passed_over_, std::pair(route.to, route.metric)) != passed_over_.end()) continue;
    RouteEvent& event =
        routes.emplace_back(RouteEvent{.to = route.to, .metric = route.metric, .blackhole = route.blackhole});
    for (const config::NextHop& hop : route.next_hops) {
      const ControlPort* out = nullptr;
      if (hop.port) out = &links_.ports()[*hop.port];
      if (hop.interface) {
        const auto at = links_.tagged().find(links_.interfaces()->of_definition(*hop.interface));
        if (at != links_.tagged().end()) out = &at->second;
      }
      const int ifindex = out != nullptr ? std::max(0, out->interface) : 0;
      event.next_hops.push_back({.via = hop.via, .ifindex = ifindex});
    }
  }
  return routes;
}

void KernelEntries::set_routes() {
  if (!kernel_routes_)
    kernel_routes_.emplace(*commands_, [](const std::string& refused) {
      spdlog::info("kernel route not changed: {}", refused);
    });
  passed_over_ = routes_.passed_over();
  kernel_routes_->want(routes_of_config());
}

void KernelEntries::follow_links() {
  if (kernel_routes_ && passed_over_ != routes_.passed_over()) set_routes();
}

void KernelEntries::on(const AddressEvent& event) {
  if (event.action == EventAction::add && kernel_routes_) kernel_routes_->try_again();
  const bool ours = event.action == EventAction::add && event.protocol == kProtocol;
  if (event.action == EventAction::add) refused_.erase({event.ifindex, event.address});
  const ControlPort* const c = links_.link_with(event.ifindex);
  if (!ours)
    given_.erase({event.ifindex, event.address});
  else if (c != nullptr && !c->twin)
    given_.insert({event.ifindex, event.address});
}

std::set<KernelEntries::DeviceAddress> KernelEntries::leave() {
  left_ = true;
  if (kernel_routes_) kernel_routes_->leave();
  return std::exchange(given_, {});
}

}  // namespace surety
