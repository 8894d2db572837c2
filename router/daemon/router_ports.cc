// SPDX-License-Identifier: BSD-3-Clause
// Adds and removes ports in a reload.
//
// A device is opened before anything changes, and closed when no worker uses it. If the device of a new port
// is in use by an old one (with another name, or opened in another way), the port waits: workers have it
// without packets, and it is opened as soon as the old one is closed.
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "router/daemon/ports/port_device.h"
#include "router/daemon/router.h"
#include "router/daemon/router_opening.h"

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

Router::Opening::~Opening() {
  for (const std::size_t p : opened_) ports_.close(p);
}

bool Router::Opening::open(const config::Config& config) {
  bool waiting = false;
  for (std::size_t p = 0; p < config.ports.size(); ++p) {
    const config::Port& port = config.ports[p];
    if (!port.exists() || ports_.is_open(p)) continue;
    if (ports_.is_missing(p) && missing_device(port)) continue;
    if (ports_.in_use(port.device)) {
      waiting = true;
      continue;
    }
    if (needs_root(port.device) && ::geteuid() != 0)
      throw PortError(port.name,
                      fmt::format("port {}: its device needs root, and this router runs as another user; "
                                  "restart it with `sudo surety run ...`",
                                  port.name));
    of_port(port, [&] { ports_.open(port, p); });
    opened_.push_back(p);
  }
  return waiting;
}

void Router::Opening::start(const config::Config& config, const WorkPlan& plan) const {
  for (const std::size_t p : opened_) of_port(config.ports[p], [&] { ports_.start(p, plan.ports[p]); });
}

WorkPlan Router::next_plan(const config::Config& next) const {
  WorkPlan plan = plan_on(work_, next, ports_.abilities(next));
  if (!serves(plan, next))
    throw std::runtime_error(
        "its rules need another distribution of packets to workers (a contract that covers more than a flow "
        "belongs to one worker): restart the router");
  return plan;
}

// Changes all devices, or none.
void Router::change_devices(const config::Config& next) {
  const config::Config& now = snapshot_->config;
  std::size_t p = 0;
  try {
    for (; p < next.ports.size(); ++p)
      if (now.ports[p].exists() && next.ports[p].exists() && ports_.is_open(p))
        of_port(next.ports[p], [&] { ports_.all()[p]->change(next.ports[p]); });
  } catch (...) {
    while (p-- > 0)
      if (now.ports[p].exists() && next.ports[p].exists() && ports_.is_open(p))
        ports_.all()[p]->change(now.ports[p]);
    throw;
  }
}

void Router::withdraw(const config::Config& next) {
  for (std::size_t p = 0; p < next.ports.size(); ++p)
    if (ports_.is_open(p) && !next.ports[p].exists()) control_->withdraw(p);
}

void Router::close_devices() {
  for (std::size_t p = 0; p < kMaxPorts; ++p) {
    if (snapshot_->config.ports[p].exists()) continue;
    if (ports_.is_open(p)) ports_.close(p);
    ports_.set_missing(p, false);
  }
}

// A router starts with the existing devices: an operator connected by another port can fix the rest.
void Router::open_or_miss(std::size_t place) {
  const config::Port& port = snapshot_->config.ports[place];
  const auto missing = missing_device(port);
  if (!missing) return ports_.open(port, place);
  ports_.set_missing(place, true);
  events_.add({EventLevel::warning,
               EventKind::link,
               fmt::format("{}; the router forwards without it{}", *missing,
                           may_appear(port) ? ", and opens it when it appears" : " until it is restarted"),
               {{"port", port.name}, {"state", "missing"}}});
}

bool Router::may_appear(const config::Port& port) const {
  return written_.router.new_ports && port.device.kind != config::Device::Kind::pci;
}

// Opens the devices that were missing and exist now, in the same way as a reload's.
void Router::open_appeared() {
  const config::Config& config = snapshot_->config;
  const auto appeared = [&](std::size_t p) {
    return ports_.is_missing(p) && may_appear(config.ports[p]) && !missing_device(config.ports[p]);
  };
  std::vector<std::size_t> all;
  for (std::size_t p = 0; p < config.ports.size(); ++p)
    if (appeared(p)) all.push_back(p);
  if (all.empty()) return;
  try {
    go_on_by(config, places_);
  } catch (const std::exception& e) {
    if (std::exchange(appearance_trouble_, e.what()) != e.what())
      spdlog::warn("{}; it stays missing", e.what());
    return;
  }
  appearance_trouble_.clear();
  for (const std::size_t p : all)
    events_.add({EventLevel::notice,
                 EventKind::link,
                 fmt::format("port {}: its device has appeared", snapshot_->config.ports[p].name),
                 {{"port", snapshot_->config.ports[p].name}, {"state", "found"}}});
}

// The configuration stays the same. If a device cannot be opened, the previous one returns, with its devices.
void Router::open_waiting() {
  waiting_ = false;
  try {
    return go_on_by(snapshot_->config, places_);
  } catch (const std::exception& e) {
    events_.add({EventLevel::error,
                 EventKind::reload,
                 fmt::format("{}; the previous configuration is in effect again", e.what()),
                 {{"successful", false}, {"reason", e.what()}}});
  }
  try {
    config::PortPlaces places = places_;
    go_on_by(with_macs(places.place(fall_back_)), places);
    running_ = fall_back_;
    written_.ports = running_.ports;
    log_.configure(running_.log);
    trial_.reset();
  } catch (const std::exception& e) {
    spdlog::error("{}; the next reload tries again to open closed ports", e.what());
  }
  const std::scoped_lock lock(shown_mutex_);
  last_reload_successful_ = false;
  config_hash_ = fall_back_hash_;
}

}  // namespace surety
