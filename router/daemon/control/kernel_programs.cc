// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/control/kernel_programs.h"

#include <fmt/format.h>
#include <net/if.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>

#include "router/daemon/linux/kernel_devices.h"
#include "router/daemon/ports/port.h"

namespace surety {

namespace {

// A router silent for so long is stalled, and this host must stay reachable.
constexpr std::chrono::seconds kSilence{5};

void warn_forwarding(const std::string& device, const std::runtime_error& e) {
  spdlog::warn("{}: {}; where kernel forwarding is on, packets of the network may bypass the conditioners",
               device, e.what());
}

}  // namespace

void KernelPrograms::open(ControlPort& port) {
  if (!port.open) return;
  const config::Port& config = links_.config().ports[port.index];
  const KernelPeer peer = DpdkPort::peer(config.device);
  if (peer == KernelPeer::sees_all || peer == KernelPeer::steered) divert(port);
  if (peer == KernelPeer::sees_all) guard(port);
  if (peer != KernelPeer::steered) return;
  try {
    port.programs.steer.emplace(port.interface);
  } catch (const std::runtime_error& e) {
    spdlog::warn("port {}: {}; packets to the router itself reach the kernel through the data plane",
                 config.name, e.what());
  }
}

// A forwarding kernel with a copy of every frame would send transit a second time, unconditioned.
void KernelPrograms::guard(ControlPort& port) {
  const config::Port& config = links_.config().ports[port.index];
  const std::string interface = DpdkPort::interface(config.device);
  try {
    port.programs.steer = Steer::guard(port.interface);
  } catch (const std::runtime_error& e) {
    for (const auto& [family, device] : {std::pair{"ipv4", interface}, std::pair{"ipv6", std::string("all")}})
      if (tun::read_setting(tun::setting_path(family, device, "forwarding")) > 0)
        throw std::runtime_error(
            fmt::format("port {}: the kernel would forward packets from {} around this router ({}); run "
                        "`sysctl net.{}.conf.{}.forwarding=0`",
                        config.name, interface, e.what(), family, device));
    spdlog::info("port {}: {}; kernel forwarding is off, so no packet bypasses the router", config.name,
                 e.what());
  }
}

// Frames of the kernel for the port pass its queues and shaper, not only the wire.
void KernelPrograms::divert(ControlPort& port) {
  if (!diverts_) return;
  try {
    port.programs.divert.emplace(port.interface);
    keep_diverting(port);
  } catch (const std::runtime_error& e) {
    spdlog::warn("port {}: {}; packets that the kernel sends there bypass the port's queues and shaper",
                 links_.name_of(port), e.what());
  }
}

void KernelPrograms::keep_diverting() {
  for (ControlPort& port : links_.ports())
    if (port.programs.divert) keep_diverting(port);
}

void KernelPrograms::keep_diverting(ControlPort& port) {
  port.programs.divert->keep(std::chrono::steady_clock::now() + kSilence);
}

void KernelPrograms::guard_forwarding(ControlPort& c) {
  if (!c.open || !c.in_kernel()) return;
  const std::size_t p = links_.port_of(c);
  try {
    std::optional<ForwardingGuard>& guard = links_.ports()[p].programs.guard;
    if (!guard) guard.emplace();
    if (c.twin)
      c.programs.watched = guard->watch(c.interface);
    else if (DpdkPort::peer(links_.config().ports[p].device) == KernelPeer::steered)
      c.programs.watched.push_back(guard->mark(c.interface));
  } catch (const std::runtime_error& e) {
    warn_forwarding(links_.name_of(c), e);
  }
}

void KernelPrograms::guard_forwarding(const PuntDevice& device) {
  try {
    punt_guard_.emplace();
    punt_mark_ = punt_guard_->mark(static_cast<int>(if_nametoindex(device.name().c_str())));
  } catch (const std::runtime_error& e) {
    warn_forwarding(device.name(), e);
  }
}

// Packets of customers for the router's addresses reach the kernel past the data plane's source check, so the
// port's BPF program checks their sources.
void KernelPrograms::check_sources(const PuntDevice& asker) {
  using Mode = config::Port::SourceCheck;
  const int device = static_cast<int>(if_nametoindex(asker.name().c_str()));
  for (ControlPort& port : links_.ports()) {
    if (!port.programs.steer) continue;
    const InterfaceRecord& r = links_.record_of(port);
    const Mode mode = r.customer() ? r.source_check : Mode::off;
    try {
      port.programs.steer->check_sources(mode == Mode::strict  ? STEER_SOURCES_STRICT
                                         : mode == Mode::loose ? STEER_SOURCES_LOOSE
                                                               : STEER_SOURCES_ANY,
                                         device);
    } catch (const std::runtime_error& e) {
      spdlog::warn("port {}: {}", links_.name_of(port), e.what());
    }
  }
}

void KernelPrograms::add_neighbor(ControlPort& port, const MacAddress& neighbor) {
  if (!port.programs.steer) return;
  try {
    port.programs.steer->add_neighbor(neighbor);
  } catch (const std::runtime_error& e) {
    spdlog::debug("{}", e.what());
  }
}

void KernelPrograms::on(const AddressEvent& event) {
  const bool add = event.action == EventAction::add;
  if (add) holders_.add(event.ifindex, event.address);
  if (!add && !holders_.remove(event.ifindex, event.address)) return;
  for (ControlPort& port : links_.ports()) {
    if (!port.programs.steer) continue;
    Steer& steer = *port.programs.steer;
    try {
      add ? steer.add_local(event.address.address) : steer.remove_local(event.address.address);
    } catch (const std::runtime_error& e) {
      spdlog::warn("{}", e.what());
    }
  }
}

}  // namespace surety
