// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/observatory.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <system_error>
#include <utility>

#include "router/daemon/forwarding_plane.h"
#include "router/daemon/time_of_day.h"
#include "router/operate/observe/flow_watch.h"
#include "router/operate/observe/reading_merge.h"
#include "router/operate/observe/report.h"
#include "router/operate/observe/subscriber_rows.h"
#include "router/pipeline/snapshot.h"
#include "router/process/version.h"

namespace surety {

namespace {

double precise_unix_seconds() {
  return std::chrono::duration<double>(time_of_day().time_since_epoch()).count();
}

std::vector<Rate> committed_of(const Snapshot& s) {
  std::vector<Rate> v;
  for (const auto& service : s.services) v.push_back(service.committed);
  return v;
}

}  // namespace

void MinuteReport::open(const std::filesystem::path& directory, std::uint64_t limit_bytes) {
  if (directory.empty()) return;
  try {
    log_ = std::make_unique<ReportLog>(directory, limit_bytes);
    directory_ = directory;
  } catch (const std::system_error& e) {
    spdlog::warn("report not stored: {}; `surety report` has no data of this run", e.what());
  }
}

void MinuteReport::begin(Minute now, std::vector<ContractMinute> rows) {
  if (minute_ != 0) log_->add(minute_, std::move(rows));
  minute_ = now;
  const std::string trouble = log_->trouble();
  if (!trouble.empty() && trouble != trouble_) spdlog::warn("report not stored: {}", trouble);
  trouble_ = trouble;
}

void MinuteReport::end(std::vector<ContractMinute> rows) {
  log_->add(minute_, std::move(rows));
}

Observatory::View::View(const Snapshot& snapshot, WorkPlan plan)
    : committed(committed_of(snapshot)),
      contracts(snapshot.config.metrics.contracts),
      interfaces(snapshot.interfaces),
      sold(std::make_shared<std::vector<config::Sale>>(config::sales(snapshot.config))),
      subscribers(std::make_shared<std::vector<SubscriberReading>>(subscriber_rows(snapshot.config))),
      work(std::move(plan)) {}

Observatory::Observatory(ForwardingPlane& plane, EventLog& events, std::string config_hash)
    : plane_(plane),
      limits_(events),
      promises_(events),
      shown_(plane.snapshot(), plane.work()),
      rates_(shown_.committed),
      book_(shown_.contracts),
      process_(precise_unix_seconds()),
      reloads_{.config_hash = std::move(config_hash), .timestamp = precise_unix_seconds()} {}

void Observatory::open_report(const config::Config& config) {
  report_.open(surety::report_directory(config), config.metrics.report_size.count());
}

void Observatory::show(View view) {
  const std::scoped_lock lock(mutex_);
  shown_ = std::move(view);
  rates_.set_committed(shown_.committed);
  book_.keep(shown_.contracts);
}

void Observatory::reloaded(bool successful, double seconds) {
  const std::scoped_lock lock(mutex_);
  reloads_.last_successful = successful;
  reloads_.seconds = seconds;
  reloads_.successful += successful;
  reloads_.failures += !successful;
  if (successful) reloads_.timestamp = precise_unix_seconds();
}

void Observatory::set_config_hash(const std::string& hash) {
  const std::scoped_lock lock(mutex_);
  reloads_.config_hash = hash;
}

void Observatory::fell_back(const std::string& hash) {
  const std::scoped_lock lock(mutex_);
  reloads_.last_successful = false;
  reloads_.config_hash = hash;
}

std::size_t Observatory::sample(const Control& control, UnixTime wall) {
  auto counters = plane_.workers().read();
  auto flows = plane_.workers().top_flows(plane_.config().metrics.top_flows);
  const std::scoped_lock lock(mutex_);
  if (counters) rates_.sample(counters->services, plane_.now());
  sample_contracts();
  std::size_t contracts = 0;
  book_.each([&](const ContractReading& c) {
    ++contracts;
    promises_.look({c.customer, c.service, c.contract, c.committed_bytes_per_second,
                    c.offered_bytes_per_second, c.delivered_in_bytes_per_second, c.reason},
                   c.met == false, plane_.now());
  });
  const Minute minute = std::chrono::floor<std::chrono::minutes>(wall).time_since_epoch().count();
  if (report_.is_over(minute))
    report_.begin(minute, report_.counts() ? minute_rows(counters) : std::vector<ContractMinute>());
  if (counters) busy_.sample(counters->workers);
  top_flows_ = std::move(flows);
  control_reading_.take(control);
  if (counters) {
    control_reading_.apply(*counters);
    counters->mempool_available = plane_.pools().available();
    counters->mempool_size = plane_.pools().buffers();
    limits_.look(*counters, plane_.now());
  }
  return contracts;
}

void Observatory::sample_contracts() {
  ContractWatch& watch = plane_.workers().contracts();
  const std::vector<ContractSighting>& contracts = watch.look();
  book_.sample(
      contracts, watch.terms(), [&](const ContractSighting& s) { return watch.name(s); }, plane_.now());
}

// Contracts and shapers. Without a reading of the workers, shapers count in the next minute.
std::vector<ContractMinute> Observatory::minute_rows(const std::optional<Reading>& workers) {
  auto rows = book_.take_minute();
  if (workers) std::ranges::move(shapers_.take(interface_readings(), *workers), std::back_inserter(rows));
  return rows;
}

void Observatory::end_report(const std::optional<Reading>& last) {
  if (report_directory().empty()) return;
  const std::scoped_lock lock(mutex_);
  sample_contracts();  // bytes passed since the last sample, and during the end
  report_.end(minute_rows(last));
}

std::vector<InterfaceReading> Observatory::interface_readings() const {
  return interface_rows(*shown_.interfaces, plane_.workers().interface_counters(), *shown_.sold);
}

Reading Observatory::read() {
  auto fresh = plane_.workers().read();
  const std::scoped_lock lock(mutex_);
  if (fresh) last_ = std::move(*fresh);
  Reading r = last_;
  const Time now = plane_.now();
  r.interfaces = interface_readings();
  r.sold = shown_.sold;
  r.subscribers = shown_.subscribers;
  r.version = kVersion;
  r.config_hash = reloads_.config_hash;
  r.reloads = reloads_.successful;
  r.reload_failures = reloads_.failures;
  r.last_reload_successful = reloads_.last_successful;
  r.reload_seconds = reloads_.seconds;
  r.last_reload_timestamp = reloads_.timestamp;
  r.process = process_.read();
  busy_.apply(r.workers);
  r.uptime_seconds = seconds(now.time_since_epoch());
  describe_ports(r.ports);
  rates_.apply(r.services, now);
  settle_retired(r);
  book_.apply(r.services);
  r.contracts = book_.contracts();
  settle_below(r);
  r.top_flows = top_flows_;
  control_reading_.apply(r);
  settle_gone(r);
  r.mempool_available = plane_.pools().available();
  r.mempool_size = plane_.pools().buffers();
  return r;
}

// Adds the devices' statistics, and the cores that serve the ports.
void Observatory::describe_ports(std::vector<PortReading>& ports) const {
  plane_.ports().read(ports);
  const WorkPlan& plan = shown_.work;
  for (std::size_t p = 0; p < std::min(ports.size(), plan.ports.size()); ++p) {
    const WorkPlan::Port& work = plan.ports[p];
    ports[p].owner_core = plan.cores[work.owner];
    ports[p].rx_cores.clear();
    for (const std::size_t w : work.readers) ports[p].rx_cores.push_back(plan.cores[w]);
    ports[p].spread = work.dispatch ? "dispatch" : work.readers.size() > 1 ? "queues" : "one";
  }
}

std::shared_ptr<const Interfaces> Observatory::interfaces() {
  const std::scoped_lock lock(mutex_);
  return shown_.interfaces;
}

Observatory::Identity Observatory::identity() {
  const std::scoped_lock lock(mutex_);
  return {reloads_.config_hash, shown_.interfaces};
}

}  // namespace surety
