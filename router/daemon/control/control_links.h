// SPDX-License-Identifier: BSD-3-Clause
// The configuration in effect, and the kernel sides of its links, found by interface or by kernel device.
//
// A link is a port, an interface with tags, or a template: all members of a template have one kernel side.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "config/config.h"
#include "router/daemon/control/control_port.h"
#include "router/pipeline/interfaces/interfaces.h"

namespace surety {

class ControlLinks {
 public:
  // `interfaces`: the workers' table; nullptr: built from `config`. `ports`: the number of places.
  ControlLinks(config::Config config, std::shared_ptr<const Interfaces> interfaces, std::size_t ports);

  // Replaces the configuration and its table, and returns the previous configuration. Opens and closes no
  // link.
  config::Config configure(const config::Config& config, std::shared_ptr<const Interfaces> interfaces);

  const config::Config& config() const { return config_; }
  const std::shared_ptr<const Interfaces>& interfaces() const { return interfaces_; }
  // Addresses of all ports and interfaces.
  const PortAddresses::Shared& router_addresses() const { return router_addresses_; }

  // Ports by number, open or not; interfaces with tags, and templates, by their own number.
  std::vector<ControlPort>& ports() { return ports_; }
  const std::vector<ControlPort>& ports() const { return ports_; }
  std::map<InterfaceIndex, ControlPort>& tagged() { return tagged_; }
  const std::map<InterfaceIndex, ControlPort>& tagged() const { return tagged_; }
  template <class F>
  void for_each(F&& f) {
    for (ControlPort& c : ports_) f(c);
    for (auto& [index, c] : tagged_) f(c);
  }

  // The link of an interface of the table; nullptr: it is not open.
  ControlPort* link(InterfaceIndex interface);
  const ControlPort* link(InterfaceIndex interface) const {
    return const_cast<ControlLinks*>(this)->link(interface);
  }
  // The link of any interface; nullptr: it was removed, or is not open.
  ControlPort* existing_link(InterfaceIndex interface) {
    return interfaces_->exists(interface) ? link(interface) : nullptr;
  }
  // The link with this kernel device; nullptr: none.
  ControlPort* link_with(int ifindex);
  // Enters the kernel device of a link, and removes it.
  void bind(const ControlPort& c) { by_device_[c.interface] = c.index; }
  void unbind(const ControlPort& c) { by_device_.erase(c.interface); }

  // Parameters of a link, from the configuration.
  const InterfaceRecord& record_of(const ControlPort& c) const { return (*interfaces_)[c.index]; }
  std::string name_of(const ControlPort& c) const { return interfaces_->name(c.index); }
  std::size_t port_of(const ControlPort& c) const { return record_of(c).port; }
  std::uint16_t mtu_of(const ControlPort& c) const { return record_of(c).mtu; }
  const std::vector<Prefix>& addresses_of(const ControlPort& c) const;

  void count(std::size_t port, ExceptionResult result) {
    ++ports_[port].counters[static_cast<std::size_t>(result)];
  }

 private:
  config::Config config_;
  std::shared_ptr<const Interfaces> interfaces_;
  PortAddresses::Shared router_addresses_;
  std::vector<ControlPort> ports_;
  std::map<InterfaceIndex, ControlPort> tagged_;
  std::unordered_map<int, InterfaceIndex> by_device_;
};

}  // namespace surety
