// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/router.h"
#include "router/operate/observe/metrics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_random.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "router/daemon/router_needs.h"
#include "router/daemon/time_of_day.h"
#include "router/operate/console/console.h"
#include "router/operate/console/contract_history.h"
#include "router/operate/observe/reading_merge.h"
#include "router/operate/observe/report.h"
#include "router/operate/observe/telemetry_client.h"
#include "router/process/this_process.h"
#include "router/process/version.h"

namespace surety {

namespace {

using namespace std::chrono_literals;

constexpr unsigned kPuntRing = 1024;
constexpr std::size_t kPlacesPerRound = 16384;  // flow table places: 4 million in a second or two
// During the final drain no packets are received: waiting longer for queued ones loses more than it saves.
constexpr Duration kDrain = 200ms, kHandOverDrain = 10ms;
// A worker turns every 10 ms at least; a reload, even with millions of routes, is one round of the control
// thread.
constexpr Duration kWorkerStands = 1s, kControlStands = 30s;

bool any_kernel_peer(const config::Config& c) {
  return std::any_of(c.ports.begin(), c.ports.end(),
                     [](const config::Port& p) { return DpdkPort::peer(p.device) != KernelPeer::none; });
}

rte_ring* make_ring(const config::Config& c, std::size_t workers) {
  if (!any_kernel_peer(c) && !c.router.new_ports) return nullptr;
  const unsigned flags = RING_F_SC_DEQ | (workers == 1 ? RING_F_SP_ENQ : 0u);
  rte_ring* ring = rte_ring_create("punts", kPuntRing, static_cast<int>(rte_socket_id()), flags);
  if (ring == nullptr)
    throw std::runtime_error(fmt::format("no memory for the punt ring: {}; raise `dpdk: {{memory: ...}}`",
                                         rte_strerror(rte_errno)));
  return ring;
}

// Reduces the held packets to the buffers available.
config::Config affordable(config::Config c, std::size_t workers, bool hugepages) {
  c.flow_table.held_packets = held_within(c, workers, plan_pool(c, workers, hugepages).start);
  return c;
}

}  // namespace

double Router::unix_seconds() {
  return std::chrono::duration<double>(time_of_day().time_since_epoch()).count();
}

Router::Router(config::Config config, const EalPlan& plan, std::string file, std::string config_hash,
               ProcessLog& log, std::unique_ptr<ProcessLock> lock, std::unique_ptr<OldProcess> old_process)
    : lock_(std::move(lock)),
      old_process_(std::move(old_process)),
      log_(log),
      written_(std::move(config)),
      running_(written_),
      file_(std::move(file)),
      whole_file_(std::filesystem::absolute(file_)),
      snapshot_(std::make_unique<Snapshot>(
          with_macs(places_.place(affordable(written_, plan.worker_cores.size(), plan.hugepages))))),
      plan_(plan),
      config_hash_(std::move(config_hash)),
      pools_("surety", written_, plan_pool(written_, plan.worker_cores.size(), plan.hugepages)),
      ports_(pools_),
      forwarding_(written_.dpdk.max_routes, static_cast<unsigned>(plan.worker_cores.size())),
      punts_(make_ring(written_, plan.worker_cores.size())),
      clock_(old_process_ ? TscClock(old_process_->facts().clock) : TscClock()),
      dispatch_seed_(old_process_ ? old_process_->facts().dispatch_seed : rte_rand()),
      wall_clock_(time_of_day(), clock_.now()),
      store_(std::filesystem::absolute(state_directory()) / written_.router.name),
      rates_(committed(*snapshot_)),
      book_(written_.metrics.contracts),
      process_(unix_seconds()),
      reloaded_(unix_seconds()) {
  shown_interfaces_ = snapshot_->interfaces;
  sold_ = std::make_shared<std::vector<config::Sale>>(config::sales(snapshot_->config));
  load_keys(written_);
  starting_.lap("tables");
  HandoverState state = inherit();
  open_ports();
  starting_.lap("ports");
  make_workers();
  if (may_restore(state))
    restore_contracts(state);
  else
    state.known.stations.clear();
  starting_.lap("workers");
  if (old_process_) old_process_->wait_for_rest();
  control_ = std::make_unique<Control>(
      snapshot_->config, ports_.all(), forwarding_, events_, punts_.get(), pools_.of(0),
      [this](PortIndex port, rte_mbuf* m) { return inject(port, m); },
      [this](PortIndex port) {
        const Handover* ring = fabric_->injected(port);
        return ring != nullptr ? ring->size() : 0;
      },
      snapshot_->interfaces);
  if (old_process_) control_->inherit(state.known);
  for (std::size_t p = 0; p < kMaxPorts; ++p)
    if (ports_.is_missing(p)) control_->withdraw(p);
  if (old_process_) tell_main_process();
  tell_held();
  starting_.lap("control");
}

void Router::close() {
  Phases ending;
  metrics_.reset();
  telemetry_.reset();
  capture_.reset();
  ending.lap("observers");
  control_.reset();
  ending.lap("control");
  for (std::size_t p = 0; p < kMaxPorts; ++p) ports_.close(p);
  ending.lap("ports");
  lock_.reset();
  spdlog::info("closed: {}", ending.text());
}

// A frame of this machine's kernel, or of the responder, on its way out of a port.
bool Router::inject(PortIndex port, rte_mbuf* m) {
  if (fabric_->injected(port)->enqueue({&m, 1}) == 0) return false;
  workers_[work_.ports[port].owner]->wake();
  return true;
}

void Router::open_ports() {
  const config::Config& config = snapshot_->config;
  for (std::size_t p = 0; p < config.ports.size(); ++p)
    if (config.ports[p].exists()) open_or_miss(p);
  work_ = plan_work(config, plan_.worker_cores, ports_.abilities(config));
  for (std::size_t p = 0; p < config.ports.size(); ++p)
    if (ports_.is_open(p)) ports_.start(p, work_.ports[p]);
}

void Router::make_workers() {
  fabric_ = std::make_unique<Fabric>("fabric", work_);
  const WorkerEnvironment environment{*snapshot_,
                                      ports_.all(),
                                      forwarding_.fib(),
                                      forwarding_.next_hops(),
                                      punts_.get(),
                                      pools_.of(0),
                                      signal_keys_.empty() ? nullptr : &signal_keys_.back(),
                                      &wall_clock_};
  for (std::size_t w = 0; w < work_.cores.size(); ++w) {
    WorkerOptions options{
        .core = work_.cores[w], .seed = rte_rand(), .dispatch_seed = dispatch_seed_, .clock = clock_};
    options.sleep = snapshot_->config.idle == config::Config::Idle::adaptive;
    workers_.push_back(std::make_unique<Worker>(environment, work_, w, fabric_.get(), options));
  }
  std::vector<ContractWatch::Source> sources;
  for (auto& w : workers_) {
    sources.push_back({&w->ingress(), &w->losses()});
    w->connect(workers_);
    top_.emplace_back(w->ingress(), *snapshot_, snapshot_->config.metrics.top_flows);
    w->report_to(forwarding_.rcu());
  }
  contracts_.emplace(std::move(sources), *snapshot_);
}

void Router::start_observers() {
  keep_report();
  capture_ = std::make_unique<CaptureServer>(CaptureServer::Router{
      .workers = workers_.size(),
      .set_tap = [this](std::size_t worker, CaptureTap* tap) { return workers_[worker]->set_tap(tap); },
      .now = [this] { return clock_.now(); },
      .time_of_day = [this](Time now) { return wall_clock_.at(now); }});
  try {
    TelemetryServer::Commands commands = changes();
    commands.emplace(kHandOver, [this](std::string_view what, Fd& socket) {
      if (what == kFacts) return to_json(facts());
      return new_process_.begin(what, facts(), socket), Json();
    });
    commands.emplace("explain", [this](std::string_view question, Fd&) { return explain(question); });
    commands.emplace(
        "capture", [this](std::string_view request, Fd& socket) { return capture(request, socket), Json(); });
    telemetry_ = std::make_unique<TelemetryServer>(
        std::filesystem::path(rte_eal_get_runtime_dir()) / kTelemetrySocket, [this] { return read(); },
        TelemetryServer::Tables{{"events", [this] { return events_.rows(); }},
                                {"routes", [this] { return tables_.routes(); }},
                                {"neighbors", [this] { return tables_.neighbors(); }}},
        std::move(commands));
  } catch (const std::system_error& e) {
    spdlog::warn("`surety show` does not work: {}", e.what());
  }
  const config::Metrics& m = snapshot_->config.metrics;
  if (m.listen.empty()) return;
  metrics_ = std::make_unique<MetricsServer>(
      m.listen, load_metrics_access(m),
      std::make_unique<metrics::Readings>([this] { return render(read()); }), console());
  spdlog::info("metrics served: url={}://{}/metrics", m.tls ? "https" : "http", m.listen);
}

void Router::keep_report() {
  const auto directory = report_directory(written_);
  if (directory.empty()) return;
  try {
    report_ = std::make_unique<ReportLog>(directory, written_.metrics.report_size.count());
  } catch (const std::system_error& e) {
    spdlog::warn("report not stored: {}; `surety report` has no data of this run", e.what());
  }
}

WebPages Router::console() {
  try {
    Console::Tables own{{"events", [this] { return events_.rows(); }},
                        {"routes", [this] { return tables_.routes(); }},
                        {"neighbors", [this] { return tables_.neighbors(); }}};
    if (report_) {
      const auto history = std::make_shared<ContractHistory>(report_directory(written_), [] {
        return std::chrono::floor<std::chrono::minutes>(time_of_day()).time_since_epoch().count();
      });
      own.emplace("history", [history] { return history->rows(); });
    }
    const auto made = std::make_shared<Console>(
        console_files(), [this] { return read(); }, [this] { return clock_.now(); }, std::move(own));
    return [made](std::string_view path) { return made->page(path); };
  } catch (const std::system_error& e) {
    spdlog::warn("console is off: {}", e.what());
    return {};
  }
}

void Router::launch() {
  for (std::size_t w = 0; w < workers_.size(); ++w) {
    const auto run = [](void* self) {
      static_cast<Worker*>(self)->run(kDrain);
      return 0;
    };
    const int launched = rte_eal_remote_launch(run, workers_[w].get(), static_cast<unsigned>(w + 1));
    if (launched != 0)
      throw std::runtime_error(
          fmt::format("cannot start a worker on core {}: {}", work_.cores[w], rte_strerror(-launched)));
  }
}

void Router::stop_workers(Duration drain) {
  for (auto& w : workers_) w->stop(drain);
  rte_eal_mp_wait_lcore();
}

std::vector<Watchdog::Watched> Router::watched() {
  std::vector<Watchdog::Watched> all{{"the control thread", kControlStands,
                                      [this] { return rounds_.load(std::memory_order_relaxed); }, ::getpid}};
  for (std::size_t w = 0; w < workers_.size(); ++w)
    all.push_back({fmt::format("worker {} on core {}", w, work_.cores[w]), kWorkerStands,
                   [worker = workers_[w].get()] { return worker->last_turn(); },
                   [worker = workers_[w].get()] { return worker->thread_id(); }, true});
  return all;
}

// Called when everything is open and every thread started, before the first packet is read.
void Router::confine() {
  Needs needs = needs_of(written_, file_);
  needs.make.push_back(store_.directory());
  confinement_.emplace(needs);
  spdlog::info("{}", confinement_->summary());
}

void Router::tell_start() {
  const std::string& name = snapshot_->config.router.name;
  events_.add({EventLevel::notice,
               EventKind::start,
               fmt::format("{} forwards between {} port{} on core{} {}{}", name, ports_.open_ports(),
                           ports_.open_ports() == 1 ? "" : "s", work_.cores.size() > 1 ? "s" : "",
                           fmt::join(work_.cores, ", "), without()),
               {{"router", name}, {"version", kVersion}, {"config_hash", config_hash_}}});
  if (running_.ports.empty()) spdlog::warn("{}", advice());
  ServiceManager::ready();
}

// Ports whose device is not here.
std::string Router::without() const {
  std::vector<std::string> names;
  for (std::size_t p = 0; p < snapshot_->config.ports.size(); ++p)
    if (ports_.is_missing(p)) names.push_back(snapshot_->config.ports[p].name);
  return names.empty() ? "" : fmt::format(", without {}: device missing", fmt::join(names, ", "));
}

// A first configuration has none (deploy/systemd/surety.yaml).
std::string Router::advice() const {
  return fmt::format(
      "no ports, nothing is forwarded: `surety setup` lists the NICs and writes a first configuration; "
      "or write `ports:` into {}, then run `surety reload {}`",
      file_, running_.router.name);
}

// Sets the text of `systemctl status`.
void Router::tell_status(std::size_t contracts) {
  if (running_.ports.empty()) return manager_.status(advice());
  manager_.status(fmt::format("{} of {} ports up, {} contracts{}", ports_.up(), running_.ports.size(),
                              contracts, last_reload_successful_ ? "" : "; the last reload was refused"));
}

void Router::run(const std::atomic<bool>& stop, std::atomic<bool>& reload) {
  open_store();
  start_observers();
  const Watchdog watchdog(watched());
  confine();
  bool more = false, handing_over = false;
  try {
    launch();
    starting_.lap("observers");
    if (old_process_) old_process_->taken();
    spdlog::info("started: {}", starting_.text());
    control_call_.start();
    stage_.store(Stage::forwards);
    tell_start();
    keep_generation();  // a disk may take its time: packets pass already
    for (auto next = std::chrono::steady_clock::now();
         !stop.load(std::memory_order_relaxed) && !(handing_over = new_process_.takes());) {
      rounds_.fetch_add(1, std::memory_order_relaxed);
      control_->round(more ? 0ms : 5ms);
      more = tables_.step(*control_, clock_.now());
      control_call_.serve();
      hear_predecessor(reload);
      // A reload waits for the previous one to complete.
      if (updated()) settle();
      if (updated() && waiting_) open_waiting();
      if (reload.load(std::memory_order_relaxed) && updated() && !new_process_.is_there()) {
        reload.store(false, std::memory_order_relaxed);
        this->reload();
        if (last_reload_successful_) remember("", "reload", changed_);
      }
      if (trial_ && clock_.now() >= trial_->until && updated()) end_trial(true);
      for (auto& t : top_) t.look(kPlacesPerRound, clock_.now());
      if (std::chrono::steady_clock::now() < next) continue;
      if (updated() && ports_.any_missing()) open_appeared();
      tick();
      next = std::max(next + 1s, std::chrono::steady_clock::now());  // not a second for each that was missed
    }
    if (!handing_over) ServiceManager::stopping();  // the service continues in the new process
  } catch (...) {
    stop_workers(kDrain);
    throw;
  }
  stage_.store(Stage::ends);  // requests after this are refused
  control_call_.stop();
  const auto last = read_workers();
  Phases stopping;
  stop_workers(handing_over ? kHandOverDrain : kDrain);
  stopping.lap("workers");
  spdlog::info("workers stopped: {}", stopping.text());
  if (report_) {
    sample_contracts();  // bytes passed since the last sample, and during the end
    report_->add(minute_, minute_rows(last));
  }
  if (handing_over) hand_over(reload);
}

// Contracts and shapers. Without a reading of the workers, shapers count in the next minute.
std::vector<ContractMinute> Router::minute_rows(const std::optional<Reading>& workers) {
  auto rows = book_.take_minute();
  if (workers) std::ranges::move(shapers_.take(interfaces(), *workers), std::back_inserter(rows));
  return rows;
}

// A second that began in the previous minute counts for that minute.
void Router::keep_minute(Minute now, const std::optional<Reading>& workers) {
  if (!report_ || now == minute_) return;
  if (minute_ != 0) report_->add(minute_, minute_rows(workers));
  minute_ = now;
  const std::string trouble = report_->trouble();
  if (!trouble.empty() && trouble != report_trouble_) spdlog::warn("report not stored: {}", trouble);
  report_trouble_ = trouble;
}

void Router::sample_contracts() {
  const std::vector<ContractSighting>& contracts = contracts_->look();
  book_.sample(
      contracts, contracts_->terms(), [this](const ContractSighting& s) { return contracts_->name(s); },
      clock_.now());
}

void Router::tick() {
  keep_generation();
  const UnixTime wall = time_of_day();
  wall_clock_.set(wall, clock_.now());
  auto counters = read_workers();
  const std::uint32_t top = snapshot_->config.metrics.top_flows;
  std::vector<FlowReading> flows;
  for (const auto& t : top_) flows.insert(flows.end(), t.largest().begin(), t.largest().end());
  const auto bytes = [](const FlowReading& f) { return f.in_bytes + f.out_bytes; };
  std::stable_sort(flows.begin(), flows.end(),
                   [&](const FlowReading& a, const FlowReading& b) { return bytes(a) > bytes(b); });
  flows.resize(std::min<std::size_t>(flows.size(), top));
  const std::scoped_lock lock(shown_mutex_);
  if (counters) rates_.sample(counters->services, clock_.now());
  sample_contracts();
  std::size_t contracts = 0;
  book_.each([&](const ContractReading& c) {
    ++contracts;
    promises_.look({c.customer, c.service, c.contract, c.committed_bytes_per_second,
                    c.offered_bytes_per_second, c.delivered_in_bytes_per_second, c.reason},
                   c.met == false, clock_.now());
  });
  keep_minute(std::chrono::floor<std::chrono::minutes>(wall).time_since_epoch().count(), counters);
  if (counters) busy_.sample(counters->workers);
  top_flows_ = std::move(flows);
  control_reading_.take(*control_);
  if (counters) {
    control_reading_.apply(*counters);
    counters->mempool_available = pools_.available();
    counters->mempool_size = pools_.buffers();
    limits_.look(*counters, clock_.now());
  }
  events_.settle();
  tell_status(contracts);
}

// Reads the workers one after the other: packets handed over meanwhile appear as `handover`.
std::optional<Reading> Router::read_workers() {
  const std::scoped_lock lock(workers_mutex_);
  if (!updated()) return std::nullopt;
  Reading all;
  for (auto& w : workers_) {
    const auto part = w->read();
    if (!part) return std::nullopt;
    merge(all, *part);
  }
  return all;
}

std::vector<InterfaceReading> Router::interfaces() const {
  std::vector<const InterfaceCounters*> counters;
  for (const auto& w : workers_) counters.push_back(&w->interfaces());
  return interface_rows(*shown_interfaces_, counters, *sold_);
}

Reading Router::read() {
  auto fresh = read_workers();
  const std::scoped_lock lock(shown_mutex_);
  if (fresh) last_ = std::move(*fresh);
  Reading r = last_;
  const Time now = clock_.now();
  r.interfaces = interfaces();
  r.sold = sold_;
  r.version = kVersion;
  r.config_hash = config_hash_;
  r.reloads = reloads_;
  r.reload_failures = reload_failures_;
  r.last_reload_successful = last_reload_successful_;
  r.reload_seconds = reload_seconds_;
  r.last_reload_timestamp = reloaded_;
  r.process = process_.read();
  busy_.apply(r.workers);
  r.uptime_seconds = seconds(now.time_since_epoch());
  ports_.read(r.ports);
  for (std::size_t p = 0; p < std::min(r.ports.size(), work_.ports.size()); ++p) {
    PortReading& port = r.ports[p];
    const WorkPlan::Port& work = work_.ports[p];
    port.owner_core = work_.cores[work.owner];
    port.rx_cores.clear();
    for (const std::size_t w : work.readers) port.rx_cores.push_back(work_.cores[w]);
    port.spread = work.dispatch ? "dispatch" : work.readers.size() > 1 ? "queues" : "one";
  }
  rates_.apply(r.services, now);
  settle_retired(r);
  book_.apply(r.services);
  r.contracts = book_.contracts();
  settle_below(r);
  r.top_flows = top_flows_;
  control_reading_.apply(r);
  settle_gone(r);
  r.mempool_available = pools_.available();
  r.mempool_size = pools_.buffers();
  return r;
}

}  // namespace surety
