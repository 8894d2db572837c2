// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/port_set.h"

#include <algorithm>
#include <utility>

#include "router/daemon/control.h"

namespace surety {

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

}  // namespace surety
