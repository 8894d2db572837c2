// SPDX-License-Identifier: BSD-3-Clause
// The kernel side of interfaces with tags: a TAP mirror each, or else the built-in responder; one for all
// members of a template. It follows the configuration.
//
// A TAP mirror is used even if the port is a kernel device: a VLAN device on it would need its frames, which
// the data plane gets, and is not possible on a NIC that DPDK has taken.
#include <rte_random.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "router/daemon/control.h"
#include "router/pipeline/wire/host_messages.h"

namespace surety {

namespace {

using ByName = std::unordered_map<std::string_view, const config::Interface*>;

ByName by_name(const config::Config& c) {
  ByName names;
  for (const auto& i : c.interfaces) names.emplace(i.name, &i);
  return names;
}

bool same_device(const config::Interface& a, const config::Interface& b) {
  return a.mtu == b.mtu && a.twin == b.twin && a.hosts == b.hosts;
}

}  // namespace

void Control::share_addresses() {
  std::vector<Prefix> all;
  for (const auto& p : config_.ports) all.insert(all.end(), p.addresses.begin(), p.addresses.end());
  for (const auto& i : config_.interfaces) all.insert(all.end(), i.addresses.begin(), i.addresses.end());
  all_addresses_ = std::make_shared<const std::vector<Prefix>>(std::move(all));
}

ControlPort* Control::link(InterfaceIndex interface) {
  if (interface < control_ports_.size())
    return control_ports_[interface].open ? &control_ports_[interface] : nullptr;
  const auto at = links_.find((*interfaces_)[interface].link);
  return at == links_.end() ? nullptr : &at->second;
}

ControlPort* Control::link_with(int ifindex) {
  const auto at = by_device_.find(ifindex);
  return at == by_device_.end() ? nullptr : link(at->second);
}

const std::vector<Prefix>& Control::addresses_of(const ControlPort& c) const {
  const InterfaceRecord& r = (*interfaces_)[c.index];
  return c.index < config_.ports.size() ? config_.ports[c.index].addresses
                                        : config_.interfaces[r.definition].addresses;
}

// Opens the interfaces that are not open yet.
void Control::open_interfaces() {
  std::vector<Routes::Binding> bindings;
  for (std::size_t d = 0; d < config_.interfaces.size(); ++d) {
    const InterfaceIndex index = interfaces_->of_definition(d);
    if (links_.contains(index) || ports_[config_.interfaces[d].port] == nullptr) continue;
    open_interface(d);
    bindings.push_back({index, links_.at(index).interface});
  }
  routes_.bind(bindings);
}

void Control::open_interface(std::size_t definition) {
  const config::Interface& i = config_.interfaces[definition];
  const InterfaceIndex index = interfaces_->of_definition(definition);
  ControlPort& c = links_[index];
  c.index = index;
  c.open = true;
  const MacAddress& mac = ports_[port_of(c)]->mac();
  c.addresses.emplace(i.addresses, mac, all_addresses_);
  if (DpdkPort::peer(config_.ports[port_of(c)].device) == KernelPeer::none) return;
  open_twin(c, i.twin);
  by_device_[c.interface] = index;
  const auto answers = c.in_kernel() ? Responder::Answers::none : Responder::Answers::all;
  const std::size_t neighbors =
      std::max<std::size_t>(4096, i.members() * i.hosts * (1 + TagBindings::kV6PerHost));
  c.responder =
      std::make_unique<Responder>(mac, *c.addresses, i.mtu, clock_.now(), rte_rand(), answers, neighbors);
  if (c.in_kernel()) c.responder->add_address({nd::link_local(mac), 64});
  c.responder->speak_for(index, i.is_template() ? std::make_unique<TagBindings>(i.hosts) : nullptr);
  if (i.is_template()) c.tags.emplace(i.hosts);
  if (commands_) {
    guard_forwarding(c);
    give_addresses(c);
  }
  follow_port(c, ports_[port_of(c)]->link_up());
}

// Closes removed interfaces, and those whose device must be made again.
void Control::close_interfaces(const config::Config& next_config, const Interfaces& next) {
  std::vector<InterfaceIndex> gone;
  const ByName names = by_name(next_config);
  for (const auto& [index, c] : links_) {
    const config::Interface& was = config_.interfaces[(*interfaces_)[index].definition];
    const auto is = names.find(was.name);
    if (!next.exists(index) || is == names.end() || !same_device(was, *is->second)) gone.push_back(index);
  }
  std::vector<Routes::Binding> unbound;
  for (const InterfaceIndex index : gone) {
    close(links_.at(index));
    links_.erase(index);
    unbound.push_back({index, 0});
  }
  routes_.bind(unbound);
}

// The kernel's state of the device is deleted with it.
void Control::close(ControlPort& c) {
  by_device_.erase(c.interface);
  std::erase_if(given_, [&](const auto& given) { return given.first == c.interface; });
}

}  // namespace surety
