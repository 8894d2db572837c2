// SPDX-License-Identifier: BSD-3-Clause
// The kernel side of the ports: finds or makes it, and passes link states to it.
#include <fmt/format.h>
#include <net/if.h>
#include <rte_random.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <stdexcept>

#include "router/daemon/control.h"
#include "router/daemon/linux/kernel_devices.h"
#include "router/pipeline/wire/host_messages.h"

namespace surety {

namespace {

using namespace std::chrono_literals;
// A router silent for so long is stalled, and this host must stay reachable.
constexpr Duration kSilence = 5s;
// A reload may change the MTU of a port; packets held for its neighbours stay.
constexpr std::uint16_t kLargestMtu = 9216;

void warn_forwarding(const std::string& device, const std::runtime_error& e) {
  spdlog::warn("{}: {}; where kernel forwarding is on, packets of the network may bypass the conditioners",
               device, e.what());
}

// Interface names have at most 15 characters.
std::string punt_name(const std::string& router) {
  return ("punt-" + router).substr(0, 15);
}

}  // namespace

// Opens the ports that are not open yet and whose devices are.
void Control::open_ports() {
  std::vector<std::size_t> fresh;
  for (std::size_t p = 0; p < ports_.size(); ++p)
    if (!control_ports_[p].open && ports_[p] != nullptr && config_.ports[p].exists()) fresh.push_back(p);
  for (const std::size_t p : fresh) open_port(p);
  if (!commands_) return;  // open_kernel() follows
  for (const std::size_t p : fresh) {
    try {
      open_steering(p);
    } catch (const std::runtime_error& e) {
      spdlog::error("{}", e.what());
    }
    guard_forwarding(control_ports_[p]);
    give_addresses(control_ports_[p]);
    // The port's program must have all addresses of the router.
    if (control_ports_[p].in_kernel()) monitor_->tell_again();
  }
}

void Control::open_port(std::size_t p) {
  ControlPort& c = control_ports_[p];
  const config::Port& port = config_.ports[p];
  const MacAddress& mac = ports_[p]->mac();
  c.open = true;
  routes_.set_port_up(p, true);  // a previous port may have been withdrawn
  c.addresses.emplace(port.addresses, mac, all_addresses_);
  const std::string name = DpdkPort::interface(port.device);
  if (!name.empty()) c.interface = static_cast<int>(if_nametoindex(name.c_str()));
  if (DpdkPort::peer(port.device) == KernelPeer::twin) open_twin(c, port.twin);
  if (c.interface == 0) return;
  routes_.bind_port(p, c.interface);
  by_device_[c.interface] = c.index;
  if (!name.empty()) open_tap(p);
  c.responder =
      std::make_unique<Responder>(mac, *c.addresses, kLargestMtu, clock_.now(), rte_rand(),
                                  c.in_kernel() ? Responder::Answers::none : Responder::Answers::all);
  if (c.in_kernel()) c.responder->add_address({nd::link_local(mac), 64});
  c.responder->speak_for(c.index, nullptr);
}

// Closes the ports that are not in the next configuration, with their state in the kernel.
void Control::close_ports(const config::Config& next) {
  std::vector<Routes::Binding> unbound;
  for (ControlPort& c : control_ports_) {
    if (!c.open || next.ports[c.index].exists()) continue;
    close_port(c);
    unbound.push_back({c.index, 0});
  }
  routes_.bind(unbound);
}

void Control::close_port(ControlPort& c) {
  forget_neighbors(c);
  if (c.in_kernel() && !c.twin) take_addresses_back(c.interface);
  close(c);
  ControlPort nobody;
  nobody.index = c.index;
  nobody.counters = c.counters;  // counts of removed ports
  c = std::move(nobody);
}

void Control::open_twin(ControlPort& c, const std::optional<std::string>& twin) {
  const std::string name = name_of(c);
  const std::string what = (c.index < control_ports_.size() ? "port " : "interface ") + name;
  if (twin != "") {
    try {
      c.twin.emplace(TapTwinSettings{twin.value_or(name), ports_[port_of(c)]->mac(), mtu_of(c)});
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

void Control::open_tap(std::size_t p) {
  try {
    control_ports_[p].tap.emplace(control_ports_[p].interface);
  } catch (const std::runtime_error& e) {
    spdlog::warn("port {}: {}; only neighbors from `neighbors:` or `ip neigh` can be reached",
                 config_.ports[p].name, e.what());
  }
}

// Connects to the kernel if a port has a kernel side: otherwise nothing there needs this router's routes.
void Control::open_kernel() {
  bool any = false;
  for_each_link([&](const ControlPort& c) { any |= c.in_kernel(); });
  if (!any) return;
  commands_.emplace();
  monitor_.emplace();
  for (std::size_t p = 0; p < ports_.size(); ++p) open_steering(p);
  for_each_link([&](ControlPort& c) {
    guard_forwarding(c);
    give_addresses(c);
  });
  kernel_routes_.emplace(
      *commands_, [](const std::string& refused) { spdlog::info("kernel route not changed: {}", refused); });
  kernel_routes_->want(kernel_routes_of(config_));
  try {
    punt_device_.emplace(punt_name(config_.router.name));
  } catch (const std::runtime_error& e) {
    spdlog::warn("{}; packets that the data plane punts to the kernel are dropped", e.what());
  }
  if (punt_device_) {
    try {
      punt_guard_.emplace();
      punt_mark_ = punt_guard_->mark(static_cast<int>(if_nametoindex(punt_device_->name().c_str())));
    } catch (const std::runtime_error& e) {
      warn_forwarding(punt_device_->name(), e);
    }
  }
  check_sources();
  // Links and addresses are read before any change or request.
  monitor_->poll(*this, clock_.now());
}

void Control::open_steering(std::size_t p) {
  if (!control_ports_[p].open) return;
  const KernelPeer peer = DpdkPort::peer(config_.ports[p].device);
  if (peer == KernelPeer::sees_all || peer == KernelPeer::steered) divert(p);
  if (peer == KernelPeer::sees_all) guard(p);
  if (peer != KernelPeer::steered) return;
  try {
    control_ports_[p].steer.emplace(control_ports_[p].interface);
  } catch (const std::runtime_error& e) {
    spdlog::warn("port {}: {}; packets to the router itself reach the kernel through the data plane",
                 config_.ports[p].name, e.what());
  }
}

// A forwarding kernel with a copy of every frame would send transit a second time, unconditioned.
void Control::guard(std::size_t p) {
  const std::string interface = DpdkPort::interface(config_.ports[p].device), &port = config_.ports[p].name;
  try {
    control_ports_[p].steer = Steer::guard(control_ports_[p].interface);
  } catch (const std::runtime_error& e) {
    for (const auto& [family, device] : {std::pair{"ipv4", interface}, std::pair{"ipv6", std::string("all")}})
      if (tun::read_setting(tun::setting_path(family, device, "forwarding")) > 0)
        throw std::runtime_error(
            fmt::format("port {}: the kernel would forward packets from {} around this router ({}); run "
                        "`sysctl net.{}.conf.{}.forwarding=0`",
                        port, interface, e.what(), family, device));
    spdlog::info("port {}: {}; kernel forwarding is off, so no packet bypasses the router", port, e.what());
  }
}

// Keeps the kernel from forwarding packets that arrived by this port or interface, with any sysctl settings.
void Control::guard_forwarding(ControlPort& c) {
  if (!c.open || !c.in_kernel()) return;
  const std::size_t p = port_of(c);
  try {
    std::optional<ForwardingGuard>& guard = control_ports_[p].guard;
    if (!guard) guard.emplace();
    if (c.twin)
      c.watched = guard->watch(c.interface);
    else if (DpdkPort::peer(config_.ports[p].device) == KernelPeer::steered)
      c.watched.push_back(guard->mark(c.interface));
  } catch (const std::runtime_error& e) {
    warn_forwarding(name_of(c), e);
  }
}

// Packets of customers for the router's addresses reach the kernel past the data plane's source check, so the
// port's BPF program checks their sources.
void Control::check_sources() {
  using Mode = config::Port::SourceCheck;
  if (!punt_device_) return;
  const int asker = static_cast<int>(if_nametoindex(punt_device_->name().c_str()));
  for (ControlPort& c : control_ports_) {
    if (!c.steer) continue;
    const InterfaceRecord& r = (*interfaces_)[c.index];
    const Mode mode = r.customer() ? r.source_check : Mode::off;
    try {
      c.steer->check_sources(mode == Mode::strict  ? STEER_SOURCES_STRICT
                             : mode == Mode::loose ? STEER_SOURCES_LOOSE
                                                   : STEER_SOURCES_ANY,
                             asker);
    } catch (const std::runtime_error& e) {
      spdlog::warn("port {}: {}", name_of(c), e.what());
    }
  }
}

// Frames of the kernel for the port pass its queues and shaper, not only the wire.
void Control::divert(std::size_t p) {
  if (pool_ == nullptr || !inject_) return;
  try {
    control_ports_[p].divert.emplace(control_ports_[p].interface);
    keep_diverting(p);
  } catch (const std::runtime_error& e) {
    spdlog::warn("port {}: {}; packets that the kernel sends there bypass the port's queues and shaper",
                 config_.ports[p].name, e.what());
  }
}

void Control::keep_diverting(std::size_t p) {
  control_ports_[p].divert->keep(std::chrono::steady_clock::now() + kSilence);
}

// Links that the kernel does not report.
void Control::watch_links() {
  for (std::size_t p = 0; p < ports_.size(); ++p) {
    ControlPort& c = control_ports_[p];
    if (!c.open) continue;
    if (c.divert) keep_diverting(p);
    if (c.in_kernel() && !c.twin) continue;
    const bool up = ports_[p]->link_up();
    if (c.link_up == up) continue;
    c.link_changes += c.link_up.has_value();
    c.link_up = up;
    tell_link(c, up);
    routes_.set_port_up(p, up);
    if (c.twin) {
      try {
        c.twin->set_carrier(up);
      } catch (const std::runtime_error& e) {
        spdlog::warn("port {}: {}", config_.ports[p].name, e.what());
      }
    }
    come_up(c, up);
  }
  if (links_.empty()) return;
  // Each port is read once, for any number of interfaces: a kernel device takes two system calls.
  std::vector<bool> up;
  for (const auto& port : ports_) up.push_back(port != nullptr && port->link_up());
  for (auto& [index, c] : links_) follow_port(c, up[port_of(c)]);
}

// A port that comes up with the router is not logged.
void Control::tell_link(ControlPort& c, bool up) {
  if (c.index >= control_ports_.size() || std::exchange(c.told_up, up).value_or(true) == up) return;
  events_.add({up ? EventLevel::notice : EventLevel::warning,
               EventKind::link,
               fmt::format("port {}: link {}", name_of(c), up ? "up" : "down"),
               {{"port", name_of(c)}, {"state", up ? "up" : "down"}}});
}

void Control::follow_port(ControlPort& c, bool up) {
  if (c.link_up == up) return;
  c.link_up = up;
  try {
    if (c.twin) c.twin->set_carrier(up);
  } catch (const std::runtime_error& e) {
    spdlog::warn("{}: {}", name_of(c), e.what());
  }
  come_up(c, up);
}

void Control::come_up(ControlPort& c, bool up) {
  if (up && c.responder && !std::exchange(c.inherited, false)) c.responder->link_up(clock_.now());
}

// Handles the removal of a device (`ip link del`). The routes of a TAP mirror are gone with it, and the port
// has no kernel side.
void Control::lose_device(int fd) {
  for_each_link([&](ControlPort& c) {
    if (c.twin && c.twin->fd() == fd) {
      spdlog::warn("TAP mirror {} was removed; restart the router to create it again", c.twin->name());
      c.twin.reset();
    } else if (c.divert && c.divert->fd() == fd) {
      c.divert.reset();
      divert(c.index);
    }
  });
}

}  // namespace surety
