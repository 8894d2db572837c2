// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/control/link_opener.h"

#include <fmt/format.h>
#include <net/if.h>
#include <rte_random.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "router/daemon/control/kernel_entries.h"
#include "router/daemon/control/kernel_programs.h"
#include "router/daemon/control/link_watch.h"
#include "router/daemon/ports/port.h"
#include "router/pipeline/routes/routes.h"
#include "router/pipeline/wire/host_messages.h"

namespace surety {

namespace {

// A reload may change the MTU of a port; packets held for its neighbours stay.
constexpr std::uint16_t kLargestMtu = 9216;

using ByName = std::unordered_map<std::string_view, const config::Interface*>;

ByName by_name(const config::Config& c) {
  ByName names;
  for (const auto& i : c.interfaces) names.emplace(i.name, &i);
  return names;
}

bool same_device(const config::Interface& a, const config::Interface& b) {
  return a.mtu == b.mtu && a.twin == b.twin && a.hosts == b.hosts && a.has_link() == b.has_link();
}

Responder::Answers answers_of(const ControlPort& c) {
  return c.in_kernel() ? Responder::Answers::none : Responder::Answers::all;
}

}  // namespace

LinkOpener::LinkOpener(const Parts& parts, MacOf mac_of)
    : links_(parts.links),
      routes_(parts.routes),
      kernel_(parts.kernel),
      programs_(parts.programs),
      watch_(parts.watch),
      mac_of_(std::move(mac_of)) {}

bool LinkOpener::open(Time now) {
  const bool tell_again = open_ports(now);
  open_interfaces(now);
  return tell_again;
}

bool LinkOpener::open_ports(Time now) {
  std::vector<ControlPort*> fresh;
  for (ControlPort& c : links_.ports()) {
    if (c.open || !links_.config().ports[c.index].exists()) continue;
    const auto mac = mac_of_(c.index);
    if (!mac) continue;
    open_port(c, *mac, now);
    fresh.push_back(&c);
  }
  if (!kernel_.connected()) return false;  // the caller connects, and opens what follows
  bool tell_again = false;
  for (ControlPort* c : fresh) {
    try {
      programs_.open(*c);
    } catch (const std::runtime_error& e) {
      spdlog::error("{}", e.what());
    }
    programs_.guard_forwarding(*c);
    kernel_.add_addresses(*c);
    tell_again |= c->in_kernel();
  }
  return tell_again;
}

void LinkOpener::open_port(ControlPort& c, const MacAddress& mac, Time now) {
  const config::Port& port = links_.config().ports[c.index];
  c.mac = mac;
  c.open = true;
  routes_.set_port_up(c.index, true);  // a previous port may have been withdrawn
  c.addresses.emplace(port.addresses, c.mac, links_.router_addresses());
  const std::string name = DpdkPort::interface(port.device);
  if (!name.empty()) c.interface = static_cast<int>(if_nametoindex(name.c_str()));
  if (DpdkPort::peer(port.device) == KernelPeer::twin) open_mirror(c, port.twin);
  if (c.interface == 0) return;
  routes_.bind_port(c.index, c.interface);
  links_.bind(c);
  if (!name.empty()) open_tap(c);
  c.responder = std::make_unique<Responder>(c.mac, *c.addresses, kLargestMtu, now, rte_rand(), answers_of(c));
  if (c.in_kernel()) c.responder->add_address({nd::link_local(c.mac), 64});
  c.responder->speak_for(c.index, nullptr);
}

void LinkOpener::open_tap(ControlPort& c) {
  try {
    c.tap.emplace(c.interface);
  } catch (const std::runtime_error& e) {
    spdlog::warn("port {}: {}; only neighbors from `neighbors:` or `ip neigh` can be reached",
                 links_.name_of(c), e.what());
  }
}

void LinkOpener::open_mirror(ControlPort& c, const std::optional<std::string>& twin) {
  const std::string name = links_.name_of(c);
  const std::string what = (c.index < links_.ports().size() ? "port " : "interface ") + name;
  if (twin != "") {
    try {
      c.twin_mtu = links_.mtu_of(c);
      c.twin.emplace(TapMirrorSettings{twin.value_or(name), c.mac, c.twin_mtu});
      c.interface = c.twin->ifindex();
      return;
    } catch (const std::runtime_error& e) {
      if (twin && starting_)
        throw std::runtime_error(fmt::format(
            "{}: {}; set `twin` to another name for the TAP device, or to `off`", what, e.what()));
      spdlog::info("{}: no TAP mirror: {}; the router itself answers ARP, neighbor discovery and pings", what,
                   e.what());
    }
  }
  c.interface = -static_cast<int>(c.index) - 1;
}

void LinkOpener::open_interfaces(Time now) {
  std::vector<Routes::Binding> bindings;
  for (std::size_t d = 0; d < links_.config().interfaces.size(); ++d) {
    const InterfaceIndex index = links_.interfaces()->of_definition(d);
    const auto mac = mac_of_(links_.config().interfaces[d].port);
    if (links_.tagged().contains(index) || !mac || !links_.config().interfaces[d].has_link()) continue;
    open_interface(d, *mac, now);
    bindings.push_back({index, links_.tagged().at(index).interface});
  }
  routes_.bind(bindings);
}

void LinkOpener::open_interface(std::size_t definition, const MacAddress& mac, Time now) {
  const config::Interface& i = links_.config().interfaces[definition];
  const InterfaceIndex index = links_.interfaces()->of_definition(definition);
  ControlPort& c = links_.tagged()[index];
  c.index = index;
  c.open = true;
  c.mac = mac;
  c.addresses.emplace(i.addresses, c.mac, links_.router_addresses());
  if (DpdkPort::peer(links_.config().ports[links_.port_of(c)].device) == KernelPeer::none) return;
  open_mirror(c, i.twin);
  links_.bind(c);
  const std::size_t neighbors =
      std::max<std::size_t>(4096, i.members() * i.hosts * (1 + TagBindings::kV6PerHost));
  c.responder =
      std::make_unique<Responder>(c.mac, *c.addresses, i.mtu, now, rte_rand(), answers_of(c), neighbors);
  if (c.in_kernel()) c.responder->add_address({nd::link_local(c.mac), 64});
  c.responder->speak_for(index, i.is_template() ? std::make_unique<TagBindings>(i.hosts) : nullptr);
  if (i.is_template()) c.tags.emplace(i.hosts);
  if (kernel_.connected()) programs_.guard_forwarding(c);
  kernel_.add_addresses(c);
  watch_.read(c, now);
}

void LinkOpener::close(const config::Config& next, const Interfaces& interfaces) {
  close_interfaces(next, interfaces);
  close_ports(next);
}

void LinkOpener::close_interfaces(const config::Config& next_config, const Interfaces& next) {
  std::vector<InterfaceIndex> gone;
  const ByName names = by_name(next_config);
  for (const auto& [index, c] : links_.tagged()) {
    const config::Interface& was = links_.config().interfaces[(*links_.interfaces())[index].definition];
    const auto is = names.find(was.name);
    if (!next.exists(index) || is == names.end() || !same_device(was, *is->second) || !mac_of_(was.port))
      gone.push_back(index);
  }
  std::vector<Routes::Binding> unbound;
  for (const InterfaceIndex index : gone) {
    forget_device(links_.tagged().at(index));
    links_.tagged().erase(index);
    unbound.push_back({index, 0});
  }
  routes_.bind(unbound);
}

void LinkOpener::close_ports(const config::Config& next) {
  std::vector<Routes::Binding> unbound;
  for (ControlPort& c : links_.ports()) {
    if (!c.open || (next.ports[c.index].exists() && mac_of_(c.index))) continue;
    close_port(c);
    unbound.push_back({c.index, 0});
  }
  routes_.bind(unbound);
}

// A device that was deleted has lost its entries; one that was renamed has them still.
void LinkOpener::close_port(ControlPort& c) {
  std::array<char, IF_NAMESIZE> name{};
  const bool exists =
      c.in_kernel() && if_indextoname(static_cast<unsigned>(c.interface), name.data()) != nullptr;
  if (exists) kernel_.remove_neighbors(c);
  if (exists && !c.twin) kernel_.remove_addresses(c.interface);
  forget_device(c);
  ControlPort nobody;
  nobody.index = c.index;
  nobody.counters = c.counters;  // counts of removed ports
  c = std::move(nobody);
}

// The kernel's state of the device is deleted with it.
void LinkOpener::forget_device(const ControlPort& c) {
  links_.unbind(c);
  kernel_.forget_device(c.interface);
}

// Addresses of a link that is made again are set and removed with its device.
void LinkOpener::change_addresses(const config::Config& before) {
  std::unordered_map<std::string_view, const std::vector<Prefix>*> interfaces;
  for (const auto& i : before.interfaces) interfaces.emplace(i.name, &i.addresses);
  links_.for_each([&](ControlPort& c) {
    if (!c.open) return;
    const std::vector<Prefix>* was = nullptr;
    if (c.index < before.ports.size())
      was = &before.ports[c.index].addresses;
    else if (const auto i = interfaces.find(links_.name_of(c)); i != interfaces.end())
      was = i->second;
    const std::vector<Prefix>& now = links_.addresses_of(c);
    c.addresses.emplace(now, c.mac, links_.router_addresses());
    if (c.responder) c.responder->share_addresses(links_.router_addresses());
    if (was == nullptr || *was == now) return;
    for (const Prefix& address : *was)
      if (std::ranges::find(now, address) == now.end()) {
        if (c.responder) c.responder->remove_address(address);
        kernel_.remove_address(c, address);
      }
    for (const Prefix& address : now)
      if (c.responder && std::ranges::find(*was, address) == was->end()) c.responder->add_address(address);
    kernel_.add_addresses(c);
  });
}

void LinkOpener::follow_devices(Time now) {
  links_.for_each([&](ControlPort& c) {
    const auto mac = c.open ? mac_of_(links_.port_of(c)) : std::nullopt;
    if (!mac) return;
    try {
      if (*mac != c.mac) follow_mac(c, *mac, now);
      follow_mtu(c);
    } catch (const std::runtime_error& e) {
      spdlog::warn("{}: {}", links_.name_of(c), e.what());
    }
  });
}

// Addresses and routes stay. A link without a responder has no hosts.
void LinkOpener::follow_mac(ControlPort& c, const MacAddress& mac, Time now) {
  c.mac = mac;
  c.addresses.emplace(links_.addresses_of(c), c.mac, links_.router_addresses());
  if (c.responder) c.responder->change_mac(c.mac, now);
  if (c.twin) c.twin->set_mac(c.mac);
}

// The MTU of a port's mirror is KernelEntries'. An MTU that an operator has set stays until the link's
// changes.
void LinkOpener::follow_mtu(ControlPort& c) {
  const bool port = c.index < links_.ports().size();
  if (port || !c.twin || c.twin_mtu == links_.mtu_of(c)) return;
  c.twin_mtu = links_.mtu_of(c);
  c.twin->set_mtu(c.twin_mtu);
}

// The routes of a TAP mirror are gone with it, and the port has no kernel side.
void LinkOpener::lose_device(int fd) {
  links_.for_each([&](ControlPort& c) {
    if (c.twin && c.twin->fd() == fd) {
      spdlog::warn("TAP mirror {} was removed; restart the router to create it again", c.twin->name());
      c.twin.reset();
    } else if (c.programs.divert && c.programs.divert->fd() == fd) {
      c.programs.divert.reset();
      programs_.divert(c);
    }
  });
}

}  // namespace surety
