// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/port_set.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "router/daemon/control.h"
#include "router/daemon/ports/port_device.h"

namespace surety {

namespace {

bool needs_root(const config::Device& device) {
  return !DpdkPort::interface(device).empty() || device.kind == config::Device::Kind::tap;
}

// Rethrows errors of `f` as PortError of the port.
template <class F>
void of_port(const config::Port& port, F&& f) {
  try {
    f();
  } catch (const std::exception& e) {
    throw PortError(port.name, e.what());
  }
}

}  // namespace

bool PortSet::in_use(const config::Device& device) const {
  using Kind = config::Device::Kind;
  // The two ends of a memif socket are two devices, and what has no name can be had any number of times.
  const auto same = [&](const config::Device& open) {
    const std::string interface = DpdkPort::interface(device);
    if (!interface.empty()) return DpdkPort::interface(open) == interface;
    if (device.kind == Kind::memif && open.server != device.server) return false;
    return !device.name.empty() && open.kind == device.kind && open.name == device.name;
  };
  for (std::size_t p = 0; p < ports_.size(); ++p)
    if (is_open(p) && same(devices_[p])) return true;
  return false;
}

void PortSet::open(const config::Port& port, std::size_t place) {
  std::optional<InterfaceSettings> settings = Control::prepare_interface(port);
  auto opened = std::make_unique<DpdkPort>(port, place, pools_.near(port.device));
  devices_[place] = port.device;
  settings_[place].reset();
  if (settings) settings_[place].emplace(std::move(*settings));
  ports_[place] = std::move(opened);
  set_missing(place, false);
}

void PortSet::start(std::size_t place, const WorkPlan::Port& plan) {
  const auto& readers = plan.readers;
  const bool one_reader = std::equal(readers.begin() + 1, readers.end(), readers.begin());
  ports_[place]->start(static_cast<std::uint16_t>(readers.size()), one_reader ? Spread::flow : plan.spread);
  const std::scoped_lock lock(mutex_);
  started_[place] = true;
}

void PortSet::close(std::size_t place) {
  {
    const std::scoped_lock lock(mutex_);
    started_[place] = false;
  }
  ports_[place].reset();
  settings_[place].reset();
}

void PortSet::close_all() {
  for (std::size_t p = 0; p < kMaxPorts; ++p) close(p);
  detach_lost();
  close_lost();
}

void PortSet::lose(std::size_t place) {
  {
    const std::scoped_lock lock(mutex_);
    started_[place] = false;
  }
  Lost& lost = lost_[place];
  lost.detached = false;
  lost.port = std::move(ports_[place]);
  if (settings_[place]) lost.settings.emplace(std::move(*settings_[place]));
  settings_[place].reset();
  set_missing(place, true);
}

void PortSet::detach_lost() {
  for (Lost& lost : lost_) lost.detached = true;
}

void PortSet::close_lost() {
  for (Lost& lost : lost_) {
    if (!lost.detached) continue;
    lost.port.reset();
    lost.settings.reset();
  }
}

void PortSet::close_removed(const config::Config& config) {
  for (std::size_t p = 0; p < kMaxPorts; ++p) {
    if (config.ports[p].exists()) continue;
    if (is_open(p)) close(p);
    set_missing(p, false);
  }
}

void PortSet::change(const config::Config& now, const config::Config& next) {
  std::size_t p = 0;
  try {
    for (; p < next.ports.size(); ++p)
      if (now.ports[p].exists() && next.ports[p].exists() && is_open(p))
        of_port(next.ports[p], [&] { ports_[p]->change(next.ports[p]); });
  } catch (...) {
    while (p-- > 0)
      if (now.ports[p].exists() && next.ports[p].exists() && is_open(p)) ports_[p]->change(now.ports[p]);
    throw;
  }
}

std::vector<DeviceChange> PortSet::follow_devices(const config::Config& config) {
  std::vector<DeviceChange> changes;
  for (std::size_t p = 0; p < config.ports.size(); ++p) {
    const config::Port& port = config.ports[p];
    if (!port.exists() || !is_open(p)) continue;
    const std::string interface = DpdkPort::interface(port.device);
    const auto now = interface.empty() ? std::nullopt : state_of(interface);
    if (ports_[p]->removed() || (now && now->index != ports_[p]->followed().index)) {
      lose(p);
      changes.push_back({.place = p, .gone = true});
      continue;
    }
    if (!now) continue;
    const MacAddress mac = ports_[p]->mac();
    if (*now != ports_[p]->followed()) ports_[p]->follow(*now);
    // The MTU may also have changed between the reading for `config` and the start of the port.
    const bool other_mtu = ports_[p]->device_mtu(port) != port.device_mtu,
               other_mac = ports_[p]->mac() != mac;
    if (other_mtu || other_mac)
      changes.push_back({.place = p, .mtu = other_mtu, .mac = other_mac, .mac_before = mac});
  }
  return changes;
}

void PortSet::note_device_mtus(config::Config& config) const {
  for (std::size_t p = 0; p < config.ports.size(); ++p) {
    config::Port& port = config.ports[p];
    port.device_mtu = is_open(p) ? ports_[p]->device_mtu(port) : DpdkPort::device_mtu_found(port);
  }
}

std::vector<PortAbility> PortSet::abilities(const config::Config& config) const {
  std::vector<PortAbility> abilities(config.ports.size());
  for (std::size_t p = 0; p < abilities.size(); ++p) {
    if (is_open(p))
      abilities[p] = ports_[p]->ability();
    else
      abilities[p].max_rx_queues = config.ports[p].rx_queues.value_or(1);
  }
  return abilities;
}

void PortSet::read(std::span<PortReading> rows) const {
  const std::scoped_lock lock(mutex_);
  for (std::size_t p = 0; p < rows.size(); ++p) {
    rows[p].missing = is_missing(p);
    rows[p].up = started_[p] && ports_[p]->link_up();
    if (const auto speed = started_[p] ? ports_[p]->speed() : std::nullopt)
      rows[p].speed_bytes_per_second = speed->bytes_per_second();
    rows[p].rx_missed = started_[p] ? ports_[p]->rx_missed() : 0;
  }
}

std::size_t PortSet::up() const {
  const std::scoped_lock lock(mutex_);
  std::size_t up = 0;
  for (std::size_t p = 0; p < kMaxPorts; ++p) up += started_[p] && ports_[p]->link_up();
  return up;
}

PortOpening::~PortOpening() {
  for (const std::size_t p : opened_) ports_.close(p);
  for (const std::size_t p : were_missing_) ports_.set_missing(p, true);
}

bool PortOpening::open(const config::Config& config, bool missing_too) {
  bool waiting = false;
  for (std::size_t p = 0; p < config.ports.size(); ++p) {
    const config::Port& port = config.ports[p];
    if (!port.exists() || ports_.is_open(p)) continue;
    // A PCI device is opened at the start only (config/reload.cc).
    const bool may_appear = missing_too && port.device.kind != config::Device::Kind::pci;
    if (ports_.is_missing(p) && (!may_appear || ports_.is_lost(p) || missing_device(port))) continue;
    if (ports_.in_use(port.device)) {
      waiting = true;
      continue;
    }
    if (needs_root(port.device) && ::geteuid() != 0)
      throw PortError(port.name,
                      fmt::format("port {}: its device needs root, and this router runs as another user; "
                                  "restart it with `sudo surety run ...`",
                                  port.name));
    const bool was_missing = ports_.is_missing(p);
    of_port(port, [&] { ports_.open(port, p); });
    opened_.push_back(p);
    if (was_missing) were_missing_.push_back(p);
  }
  return waiting;
}

void PortOpening::start(const config::Config& config, const WorkPlan& plan) const {
  for (const std::size_t p : opened_) of_port(config.ports[p], [&] { ports_.start(p, plan.ports[p]); });
}

}  // namespace surety
