// SPDX-License-Identifier: BSD-3-Clause
// Changes a running router to another configuration.
//
// First all steps that can fail, which change nothing; then workers adopt the snapshot between two turns;
// then addresses, interfaces and routes follow, and the old state is freed.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rte_cycles.h>
#include <rte_errno.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <utility>

#include "config/reload.h"
#include "router/daemon/ports/port_device.h"
#include "router/daemon/router.h"
#include "router/daemon/router_opening.h"
#include "router/operate/generations/changes.h"

namespace surety {

namespace {

using namespace std::chrono_literals;

// A worker takes a snapshot over within its turn; this one has been away,
// as the machine's scheduler wanted it.
constexpr auto kPatience = 1s;

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

}  // namespace

// Ports of devices that have no address of their own keep the same one over restarts.
config::Config Router::with_macs(config::Config c) {
  derive_macs(c);
  return c;
}

std::vector<Rate> Router::committed(const Snapshot& s) {
  std::vector<Rate> v;
  for (const auto& service : s.services) v.push_back(service.committed);
  return v;
}

void Router::load_keys(const config::Config& c) {
  if (c.signalling.mode == config::Signalling::Mode::off) return;
  SignalKeysResult result = load_signal_keys(c);
  for (const auto& w : result.warnings) spdlog::warn("{}", w);
  if (!result.ok()) throw std::runtime_error(fmt::format("{}", fmt::join(result.errors, "; ")));
  if (signal_keys_.empty() || result.keys != signal_keys_.back())
    signal_keys_.push_back(std::move(result.keys));
}

// A reload ends a trial: the file decides.
void Router::reload() {
  attempt([this] {
    if (!take_over(file_)) return false;
    trial_.reset();
    return true;
  });
}

void Router::attempt(const std::function<bool()>& what) {
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
  const std::scoped_lock lock(shown_mutex_);
  last_reload_successful_ = successful;
  reload_seconds_ = laps.lap() / 1000;
  reloads_ += successful;
  reload_failures_ += !successful;
  if (successful) reloaded_ = unix_seconds();
}

void Router::tell_reloaded(const std::string& hash, const std::vector<config::Change>& changes) {
  Json fields = {{"successful", true}, {"config_hash", hash}, {"changes", changes.size()}};
  std::string text = fmt::format("reloaded: configuration={}; {}", hash, in_short(changes));
  if (!signal_keys_.empty())
    if (const auto keys = signal_keys_.back().of(snapshot_->config.router.id); !keys.empty())
      text += fmt::format("; signals are signed with key {}", keys.front().id);
  events_.add({EventLevel::notice, EventKind::reload, std::move(text), std::move(fields)});
}

void Router::refused(const std::string& reason) {
  refusal_ = one_line(reason);
  events_.add({EventLevel::error,
               EventKind::reload,
               fmt::format("reload refused, the configuration is unchanged: {}", refusal_),
               {{"successful", false}, {"reason", refusal_}}});
}

bool Router::take_over(const std::string& file) {
  Laps laps;
  auto parsed = parse(file, &written_);
  said_ = parsed.diagnostics;
  tell(parsed.diagnostics);
  if (!parsed.ok()) {
    refused(first_error(parsed.diagnostics));
    return false;
  }
  const std::string hash = hash_of(parsed.tree);
  spdlog::info("configuration read: ms={:.1f}", laps.lap());
  return adopt(std::move(*parsed.config), hash, parsed.tree);
}

bool Router::adopt(config::Config config, const std::string& hash, const config::Tree& tree) {
  find_buffers(config);
  config::PortPlaces places = places_;
  try {
    go_on_by(with_macs(places.place(config)), places);
  } catch (const PortError& e) {
    said_ = config::port_error(tree, e.port, e.what());
    tell(said_);
    refused(e.what());
    return false;
  }
  const auto changes = config::changes(running_, config);
  changed_ = in_json(changes);
  fall_back_ = std::exchange(running_, std::move(config));
  written_.ports = running_.ports;
  log_.configure(snapshot_->config.log);
  tell_reloaded(hash, changes);
  tell_held();
  const std::scoped_lock lock(shown_mutex_);
  fall_back_hash_ = std::exchange(config_hash_, hash);
  return true;
}

// Errors without a line in the file.
void Router::find_buffers(const config::Config& config) {
  const std::size_t workers = work_.cores.size();
  if (buffer_needs(config, workers).total() > pools_.size_of_each() &&
      !pools_.grow(plan_pool(config, workers, plan_.hugepages)))
    spdlog::warn("no memory for more packet buffers: {}", rte_strerror(rte_errno));
  const std::uint32_t wanted = least_buffers(config, workers);
  if (wanted > pools_.size_of_each())
    throw std::runtime_error(fmt::format(
        "its ports and queues need {} packet buffers, and there are {}: restart the router; a larger "
        "`dpdk: {{mbufs: ...}}` leaves room for later changes",
        wanted, pools_.size_of_each()));
}

void Router::tell_held() const {
  const std::uint32_t has = snapshot_->config.flow_table.held_packets,
                      wants = written_.flow_table.held_packets;
  if (has < wants)
    spdlog::warn(
        "a worker holds at most {} packets in input buffers, less than `flow_table: {{held: {}}}`, since "
        "there are {} packet buffers: raise `dpdk: {{mbufs: ...}}` and restart the router",
        has, wants, pools_.size_of_each());
}

void Router::go_on_by(config::Config config, const config::PortPlaces& places) {
  Laps laps;
  config.flow_table.held_packets = written_.flow_table.held_packets;
  config.flow_table.held_packets = held_within(config, work_.cores.size(), pools_.size_of_each());
  Opening opening(ports_);
  const bool waiting = opening.open(config);
  WorkPlan plan = next_plan(config);
  opening.start(config, plan);
  for (std::size_t p = 0; p < plan.ports.size(); ++p)
    if (plan.ports[p].exists() && !work_.ports[p].exists()) fabric_->open(plan, static_cast<PortIndex>(p));
  auto next = std::make_unique<Snapshot>(std::move(config), *snapshot_);
  std::vector<std::unique_ptr<WorkerUpdate>> updates;
  for (auto& w : workers_) updates.push_back(w->prepare(*next, &plan));
  for (std::size_t w = 0; w < workers_.size(); ++w) workers_[w]->connect(*updates[w], updates);
  load_keys(next->config);
  if (metrics_) metrics_->admit(load_metrics_access(next->config.metrics));
  change_devices(next->config);
  const double prepared = laps.lap();

  opening.keep();
  places_ = places;
  waiting_ = waiting;
  for (auto& w : workers_)
    if (!signal_keys_.empty()) w->use_keys(signal_keys_.back());
  withdraw(next->config);
  publish(std::move(next), std::move(updates), std::move(plan));
  const double published = laps.lap();
  if (updated()) settle();
  spdlog::info("configuration applied: prepare_ms={:.1f} publish_ms={:.1f} settle_ms={:.1f}", prepared,
               published, laps.lap());
}

void Router::publish(std::unique_ptr<Snapshot> next, std::vector<std::unique_ptr<WorkerUpdate>> updates,
                     WorkPlan plan) {
  const std::scoped_lock lock(workers_mutex_);
  before_ = std::move(snapshot_);
  snapshot_ = std::move(next);
  updates_ = std::move(updates);
  forget_counts();
  auto sold = std::make_shared<std::vector<config::Sale>>(config::sales(snapshot_->config));
  for (auto& t : top_) t.follow(*snapshot_, snapshot_->config.metrics.top_flows);
  contracts_->follow(*snapshot_);
  for (std::size_t i = 0; i < workers_.size(); ++i) workers_[i]->update(*updates_[i]);
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (!updated() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(20us);
  {
    const std::scoped_lock shown(shown_mutex_);
    if (capture_ && ports_differ(*before_->interfaces, *snapshot_->interfaces)) capture_->interrupt();
    work_ = std::move(plan);
    rates_.set_committed(committed(*snapshot_));
    book_.keep(snapshot_->config.metrics.contracts);
    shown_interfaces_ = snapshot_->interfaces;
    sold_ = std::move(sold);
  }
  if (!updated())
    return spdlog::warn("a worker does not answer; it adopts the new configuration as soon as it runs again");
  std::uint64_t longest = 0;
  for (const auto& u : updates_) longest = std::max(longest, u->cycles);
  spdlog::info("workers updated: workers={} longest_us={:.1f}", workers_.size(),
               static_cast<double>(longest) * 1e6 / static_cast<double>(rte_get_tsc_hz()));
}

// Called once all workers have adopted the snapshot: next hops refer to its interfaces. Frees the old state.
void Router::settle() {
  if (!before_) return;
  control_->configure(snapshot_->config, snapshot_->interfaces);
  close_devices();
  updates_.clear();
  before_.reset();
}

// Clears the counts of removed interfaces whose places are in use again.
void Router::forget_counts() const {
  for (std::size_t i = before_->config.ports.size(); i < snapshot_->interfaces->size(); ++i)
    if (const auto index = static_cast<InterfaceIndex>(i); !before_->interfaces->exists(index))
      for (const auto& w : workers_) w->interfaces().forget(index);
}

bool Router::updated() const {
  return std::all_of(workers_.begin(), workers_.end(), [](const auto& w) { return w->updated(); });
}

}  // namespace surety
