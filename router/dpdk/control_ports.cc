// SPDX-License-Identifier: BSD-3-Clause
// What stands behind the ports: found, made, and told of their links.
#include <fmt/format.h>
#include <net/if.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <stdexcept>

#include "router/dpdk/control.h"
#include "router/linux/tun.h"

namespace surety {

namespace {

// Interface names have at most 15 characters.
std::string punt_name(const std::string& router) {
  return ("punt-" + router).substr(0, 15);
}

std::vector<Prefix> all_addresses(const config::Config& config) {
  std::vector<Prefix> all;
  for (const auto& p : config.ports) all.insert(all.end(), p.addresses.begin(), p.addresses.end());
  return all;
}

}  // namespace

void Control::open_ports() {
  const auto all = all_addresses(config_);
  control_ports_.resize(ports_.size());
  for (std::size_t p = 0; p < ports_.size(); ++p) {
    ControlPort& c = control_ports_[p];
    const auto& device = config_.ports[p].device;
    const MacAddress& mac = ports_[p]->mac();
    c.addresses.emplace(config_.ports[p].addresses, all, mac);
    const std::string name = DpdkPort::interface(device);
    if (!name.empty()) c.interface = static_cast<int>(if_nametoindex(name.c_str()));
    if (DpdkPort::peer(device) == KernelPeer::twin) open_twin(p);
    if (c.interface != 0) routes_.bind_port(p, c.interface);
  }
}

void Control::open_twin(std::size_t p) {
  const auto& port = config_.ports[p];
  ControlPort& c = control_ports_[p];
  const MacAddress& mac = ports_[p]->mac();
  if (port.twin != "") {
    try {
      c.twin.emplace(TapTwinSettings{port.twin.value_or(port.name), mac, port.mtu});
      c.interface = c.twin->ifindex();
      return;
    } catch (const std::runtime_error& e) {
      if (port.twin)
        throw std::runtime_error(
            fmt::format("port {}: {}; name another TAP device, or say `twin: off`", port.name, e.what()));
      spdlog::info("port {}: no TAP twin: {}; the router answers ARP, neighbour discovery and pings itself",
                   port.name, e.what());
    }
  }
  c.interface = -static_cast<int>(p) - 1;
  c.responder = std::make_unique<Responder>(mac, *c.addresses, port.mtu, clock_.now());
}

// Only where a port is there in the kernel: who cannot reach any of them knows
// nothing of this router's routes.
void Control::open_kernel() {
  if (std::ranges::none_of(control_ports_, &ControlPort::in_kernel)) return;
  commands_.emplace();
  monitor_.emplace();
  open_steering();
  if (config_.kernel.addresses) give_addresses();
  try {
    punt_device_.emplace(punt_name(config_.router.name));
  } catch (const std::runtime_error& e) {
    spdlog::warn("{}; what needs the kernel's help is lost (new neighbours)", e.what());
  }
}

void Control::open_steering() {
  for (std::size_t p = 0; p < ports_.size(); ++p) {
    const KernelPeer peer = DpdkPort::peer(config_.ports[p].device);
    if (peer == KernelPeer::sees_all) guard(p);
    if (peer != KernelPeer::steered) continue;
    try {
      steers_.emplace_back(control_ports_[p].interface);
    } catch (const std::runtime_error& e) {
      spdlog::warn("port {}: {}; traffic for the router itself takes the way through the data plane",
                   config_.ports[p].name, e.what());
    }
  }
}

// A kernel that sees every frame and forwards would send transit a second time, unconditioned.
void Control::guard(std::size_t p) {
  const std::string interface = DpdkPort::interface(config_.ports[p].device), &port = config_.ports[p].name;
  try {
    steers_.push_back(Steer::guard(control_ports_[p].interface));
  } catch (const std::runtime_error& e) {
    for (const auto& [family, device] : {std::pair{"ipv4", interface}, std::pair{"ipv6", std::string("all")}})
      if (tun::read_setting(tun::setting_path(family, device, "forwarding")) > 0)
        throw std::runtime_error(
            fmt::format("port {}: the kernel would forward what comes in by {} past this router ({}); say "
                        "`sysctl net.{}.conf.{}.forwarding=0`",
                        port, interface, e.what(), family, device));
    spdlog::info("port {}: {}; the kernel does not forward, so nothing passes the router", port, e.what());
  }
}

void Control::give_addresses() {
  for (std::size_t p = 0; p < ports_.size(); ++p) {
    const ControlPort& c = control_ports_[p];
    if (!c.in_kernel()) continue;
    for (const auto& address : config_.ports[p].addresses) {
      try {
        const Added added = commands_->add_address(c.interface, address);
        if (added == Added::now && !c.twin)  // a twin takes its own along
          given_.emplace_back(c.interface, address);
      } catch (const std::runtime_error& e) {
        spdlog::warn("port {}: {}", config_.ports[p].name, e.what());
      }
    }
  }
}

// Links that the kernel does not see by itself.
void Control::watch_links() {
  for (std::size_t p = 0; p < ports_.size(); ++p) {
    ControlPort& c = control_ports_[p];
    if (c.in_kernel() && !c.twin) continue;
    const bool up = ports_[p]->link_up();
    if (c.link_up == up) continue;
    c.link_up = up;
    routes_.set_port_up(p, up);
    if (c.twin) {
      try {
        c.twin->set_carrier(up);
      } catch (const std::runtime_error& e) {
        spdlog::warn("port {}: {}", config_.ports[p].name, e.what());
      }
    }
    if (c.responder && up) c.responder->link_up(clock_.now());
  }
}

// Somebody has removed it (`ip link del`): its routes are gone with it, and nobody stands behind the port.
void Control::lose_twin(int fd) {
  const auto c = std::ranges::find_if(control_ports_,
                                      [fd](const ControlPort& p) { return p.twin && p.twin->fd() == fd; });
  spdlog::warn("the TAP twin {} is gone; start the router again to make it anew", c->twin->name());
  c->twin.reset();
}

void Control::tell_neighbors(std::size_t p) {
  const ControlPort& c = control_ports_[p];
  c.responder->neighbors().for_each_known([&](const IpAddress& address, const MacAddress& mac) {
    routes_.on(NeighborEvent{EventAction::add, c.interface, address, mac});
  });
}

}  // namespace surety
