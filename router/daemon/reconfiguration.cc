// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/reconfiguration.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <utility>

#include "config/reload.h"
#include "router/daemon/control.h"
#include "router/daemon/device_events.h"
#include "router/daemon/forwarding_plane.h"
#include "router/daemon/observatory.h"
#include "router/daemon/ports/port_device.h"
#include "router/daemon/process_log.h"
#include "router/daemon/servers.h"
#include "router/operate/generations/changes.h"
#include "router/operate/generations/config_tree.h"
#include "router/pipeline/snapshot.h"
#include "router/process/service_manager.h"

namespace surety {

namespace {

// Milliseconds since the last lap.
class Laps {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double, std::milli>(now - std::exchange(last_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Logs an error, and below it its place in the file.
void tell(spdlog::level::level_enum level, std::string_view lines) {
  for (std::size_t end = 0; !lines.empty(); lines.remove_prefix(std::min(end + 1, lines.size()))) {
    end = std::min(lines.find('\n'), lines.size());
    spdlog::log(std::exchange(level, spdlog::level::info), "{}", lines.substr(0, end));
  }
}

void tell(const std::vector<config::Diagnostic>& diagnostics) {
  for (const auto& d : diagnostics) {
    constexpr std::array kLevels{spdlog::level::err, spdlog::level::warn, spdlog::level::info};
    tell(kLevels[static_cast<std::size_t>(d.severity)], d.format());
  }
}

std::string first_error(const std::vector<config::Diagnostic>& diagnostics) {
  for (const auto& d : diagnostics)
    if (d.severity == config::Diagnostic::Severity::error) {
      const std::string text = d.format();
      return text.substr(0, text.find('\n'));
    }
  return {};
}

bool ports_differ(const Interfaces& a, const Interfaces& b) {
  for (std::size_t p = 0; p < a.ports(); ++p)
    if (const auto i = static_cast<InterfaceIndex>(p); a.name(i) != b.name(i)) return true;
  return false;
}

// True if a configuration that was parsed has the texts of `tree`, and its values are those of now.
bool is_same(const config::Tree& parsed, const config::Tree& tree) {
  config::Tree now{tree.directory, tree.file, tree.texts, {}};
  config::FileSources sources(now);
  for (const auto& [what, value] : parsed.values) {
    const auto space = what.find(' ');
    const std::string name = what.substr(space + 1);
    what.starts_with("env ") ? sources.variable(name) : sources.secret(name);
  }
  return now.directory == parsed.directory && now.file == parsed.file && now.texts == parsed.texts &&
         now.values == parsed.values;
}

}  // namespace

Reconfiguration::Reconfiguration(const Parts& parts, Start start)
    : parts_(parts),
      file_(std::move(start.file)),
      candidates_(std::move(start.candidates)),
      written_(start.configuration.config),
      in_force_(std::move(start.configuration)),
      places_(std::move(start.places)) {}

config::Config Reconfiguration::placed(const config::Config& config, config::PortPlaces& places) {
  config::Config next = places.place(config);
  derive_macs(next);
  return next;
}

// `running`: nullptr for the check of a candidate.
config::ParseResult Reconfiguration::parse(const std::string& file, const config::Config* running) {
  auto judged = std::exchange(judged_, std::nullopt);
  const auto below = std::filesystem::path(file).lexically_relative(candidates_);
  if (below.empty() || !inside(below)) return config::parse_file(file, running);
  config::Tree tree = as_installed(file, file_);
  if (running != nullptr && judged && judged->ok() && is_same(judged->tree, tree) &&
      config::fixed(*running, *judged->config).empty())
    return std::move(*judged);
  return config::parse_stored(std::move(tree), running);
}

Json Reconfiguration::judge(const std::string& file) {
  judged_ = parse(file, nullptr);
  const config::ParseResult& next = *judged_;
  if (!next.ok()) return verdict_of(next.diagnostics);
  return verdict_of(next.diagnostics, in_json(config::changes(in_force_.config, *next.config,
                                                              config::fixed(written_, *next.config))));
}

Json Reconfiguration::answer(bool in_effect) const {
  Json a = verdict_of(said_, in_effect ? changed_ : Json::array());
  if (!in_effect && !has_errors(a) && !refusal_.empty()) a["errors"].push_back(refusal_);
  a["in_effect"] = in_effect;
  return a;
}

bool Reconfiguration::take_over(const std::string& file) {
  return attempt([&] { return read(file); });
}

bool Reconfiguration::go_back(InForce before) {
  return attempt([&] { return adopt(std::move(before), config::tree_at(file_)); });
}

bool Reconfiguration::attempt(const std::function<bool()>& what) {
  bool successful = false;
  Laps laps;
  ServiceManager::reloading();
  said_.clear();
  refusal_.clear();
  try {
    successful = what();
  } catch (const std::exception& e) {
    refused(e.what());
  }
  ServiceManager::ready();
  parts_.observatory.reloaded(successful, laps.lap() / 1000);
  return successful;
}

void Reconfiguration::refused(const std::string& reason) {
  refusal_ = one_line(reason);
  parts_.log.events().add({EventLevel::error,
                           EventKind::reload,
                           fmt::format("reload refused, the configuration is unchanged: {}", refusal_),
                           {{"successful", false}, {"reason", refusal_}}});
}

bool Reconfiguration::read(const std::string& file) {
  Laps laps;
  auto parsed = parse(file, &written_);
  said_ = parsed.diagnostics;
  tell(parsed.diagnostics);
  if (!parsed.ok()) {
    refused(first_error(parsed.diagnostics));
    return false;
  }
  InForce next{std::move(*parsed.config), hash_of(parsed.tree)};
  spdlog::info("configuration read: ms={:.1f}", laps.lap());
  return adopt(std::move(next), parsed.tree);
}

bool Reconfiguration::adopt(InForce next, const config::Tree& tree) {
  ForwardingPlane& plane = parts_.plane;
  plane.find_buffers(next.config);
  config::PortPlaces places = places_;
  try {
    go_on_by(placed(next.config, places), places);
  } catch (const PortError& e) {
    said_ = config::port_error(tree, e.port, e.what());  // errors of devices have a line in the file
    tell(said_);
    refused(e.what());
    return false;
  }
  const auto changes = config::changes(in_force_.config, next.config);
  changed_ = in_json(changes);
  fall_back_ = std::exchange(in_force_, std::move(next));
  written_.ports = in_force_.config.ports;
  parts_.log.configure(plane.config().log);
  tell_reloaded(changes);
  plane.tell_held();
  parts_.observatory.set_config_hash(in_force_.hash);
  return true;
}

void Reconfiguration::tell_reloaded(const std::vector<config::Change>& changes) const {
  const std::string& hash = in_force_.hash;
  Json fields = {{"successful", true}, {"config_hash", hash}, {"changes", changes.size()}};
  std::string text = fmt::format("reloaded: configuration={}; {}", hash, in_short(changes));
  if (const std::string key = parts_.plane.signing_key(); !key.empty())
    text += fmt::format("; signals are signed with key {}", key);
  parts_.log.events().add({EventLevel::notice, EventKind::reload, std::move(text), std::move(fields)});
}

// `config` has its ports at `places`. `missing_too`: opens devices that were missing, as prepare() does.
void Reconfiguration::go_on_by(config::Config config, const config::PortPlaces& places, bool missing_too) {
  ForwardingPlane& plane = parts_.plane;
  Laps laps;
  plane.ports().note_device_mtus(config);
  ForwardingPlane::Next next = plane.prepare(std::move(config), missing_too);
  const config::Config& wanted = next.snapshot->config;
  parts_.servers.admit(wanted.metrics);
  plane.ports().change(plane.config(), wanted);
  const double prepared = laps.lap();

  next.opening.keep();
  places_ = places;
  waiting_ = next.waits;
  for (std::size_t p = 0; p < wanted.ports.size(); ++p)
    if (plane.ports().is_open(p) && !wanted.ports[p].exists()) parts_.control.withdraw(p);
  Observatory::View view(*next.snapshot, next.plan);
  const bool other_ports = ports_differ(*plane.snapshot().interfaces, *next.snapshot->interfaces);
  plane.publish(std::move(next), [&] {
    parts_.observatory.show(std::move(view));  // first: a capture that begins now has the new ports' names
    if (other_ports) parts_.servers.interrupt_capture();
  });
  const double published = laps.lap();
  settle();
  spdlog::info("configuration applied: prepare_ms={:.1f} publish_ms={:.1f} settle_ms={:.1f}", prepared,
               published, laps.lap());
}

// Next hops refer to the interfaces of the snapshot that the workers have.
void Reconfiguration::settle() {
  ForwardingPlane& plane = parts_.plane;
  if (!plane.may_free_old()) return;
  parts_.control.configure(plane.config(), plane.snapshot().interfaces);
  plane.free_old();
}

// The configuration stays the same. If a device cannot be opened, the previous one returns, with its devices.
bool Reconfiguration::open_waiting() {
  waiting_ = false;
  try {
    go_on_by(parts_.plane.config(), places_);
    return false;
  } catch (const std::exception& e) {
    parts_.log.events().add({EventLevel::error,
                             EventKind::reload,
                             fmt::format("{}; the previous configuration is in effect again", e.what()),
                             {{"successful", false}, {"reason", e.what()}}});
  }
  bool returned = false;
  try {
    config::PortPlaces places = places_;
    go_on_by(placed(fall_back_.config, places), places);
    in_force_.config = fall_back_.config;
    written_.ports = in_force_.config.ports;
    parts_.log.configure(in_force_.config.log);
    returned = true;
  } catch (const std::exception& e) {
    spdlog::error("{}; the next reload tries again to open closed ports", e.what());
  }
  in_force_.hash = fall_back_.hash;
  parts_.observatory.fell_back(in_force_.hash);
  return returned;
}

// In the same way as the devices of a reload.
void Reconfiguration::open_appeared() {
  const std::vector<std::size_t> all = parts_.plane.appeared();
  if (all.empty()) return;
  try {
    go_on_by(parts_.plane.config(), places_);
  } catch (const std::exception& e) {
    if (std::exchange(appearance_trouble_, e.what()) != e.what())
      spdlog::warn("{}; it stays missing", e.what());
    return;
  }
  appearance_trouble_.clear();
  for (const std::size_t p : all) {
    const std::string& port = parts_.plane.config().ports[p].name;
    parts_.log.events().add({EventLevel::notice,
                             EventKind::link,
                             fmt::format("port {}: its device has appeared", port),
                             {{"port", port}, {"state", "found"}}});
    if (parts_.plane.config().ports[p].device_mtu != 0)
      parts_.log.events().add(device_events::mtu(parts_.plane.config().ports[p]));
  }
}

// The configuration stays the same, with what the devices have now.
void Reconfiguration::follow_devices(Time now) {
  if (now < next_follow_) return;
  next_follow_ = now + kFollowEvery;
  settle();  // a worker may have adopted the last snapshot since this round began
  ForwardingPlane& plane = parts_.plane;
  const std::vector<DeviceChange> changes = plane.ports().follow_devices(plane.config());
  unpublished_ |= !changes.empty();
  for (const DeviceChange& change : changes)
    if (change.gone) {
      parts_.control.withdraw(change.place);
      const config::Port& port = plane.config().ports[change.place];
      parts_.log.events().add(device_events::gone(port, plane.may_appear(port)));
    }
  if (!unpublished_) return;
  try {
    go_on_by(plane.config(), places_, false);
  } catch (const std::exception& e) {
    if (std::exchange(follow_trouble_, e.what()) != e.what())
      spdlog::error("a change of a device is not followed yet: {}", e.what());
    return;
  }
  unpublished_ = false;
  follow_trouble_.clear();
  for (const DeviceChange& change : changes) {
    const config::Port& port = plane.config().ports[change.place];
    if (change.mtu) parts_.log.events().add(device_events::mtu(port));
    if (change.mac)
      parts_.log.events().add(
          device_events::mac(port, change.mac_before, plane.ports().all()[change.place]->mac()));
  }
}

}  // namespace surety
