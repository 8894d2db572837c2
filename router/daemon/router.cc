// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/router.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "router/daemon/config_history.h"
#include "router/daemon/control.h"
#include "router/daemon/control_tables.h"
#include "router/daemon/explain_packet.h"
#include "router/daemon/forwarding_plane.h"
#include "router/daemon/observatory.h"
#include "router/daemon/ports/eal.h"
#include "router/daemon/ports/memory_plan.h"
#include "router/daemon/ports/process_lock.h"
#include "router/daemon/process_log.h"
#include "router/daemon/reconfiguration.h"
#include "router/daemon/router_needs.h"
#include "router/daemon/servers.h"
#include "router/daemon/succession.h"
#include "router/daemon/time_of_day.h"
#include "router/daemon/trial.h"
#include "router/operate/observe/report.h"
#include "router/pipeline/snapshot.h"
#include "router/process/version.h"

namespace surety {

namespace {

using namespace std::chrono_literals;

constexpr Duration kHandOverDrain = 10ms;
constexpr Duration kControlStands = 30s;  // a reload, even with millions of routes, is one round
constexpr auto kAnswerPatience = 30s;     // until the control thread answers

// Reduces the held packets to the buffers available.
config::Config affordable(config::Config c, const EalPlan& plan) {
  const std::size_t workers = plan.worker_cores.size();
  c.flow_table.held_packets = held_within(c, workers, plan_pool(c, workers, plan.hugepages).start);
  return c;
}

}  // namespace

Router::Router(config::Config config, const EalPlan& plan, std::string file, std::string config_hash,
               ProcessLog& log, std::unique_ptr<ProcessLock> lock, std::unique_ptr<OldProcess> old_process)
    : log_(log),
      file_(std::move(file)),
      whole_file_(std::filesystem::absolute(file_)),
      succession_(std::make_unique<Succession>(std::move(lock), std::move(old_process))),
      tables_(std::make_unique<ControlTables>()),
      history_(std::make_unique<ConfigHistory>(
          std::filesystem::absolute(state_directory()) / config.router.name, file_)) {
  const bool takes_over = succession_->old_process() != nullptr;
  config::PortPlaces places;
  plane_ = std::make_unique<ForwardingPlane>(
      config, Reconfiguration::placed(affordable(config, plan), places), plan, succession_->old_process());
  observatory_ = std::make_unique<Observatory>(*plane_, log_.events(), config_hash);
  servers_ = std::make_unique<Servers>(*plane_, *observatory_);
  starting_.lap("tables");
  HandoverState state = succession_->inherit(config.router.name, starting_);
  plane_->open_ports(log_.events());
  starting_.lap("ports");
  plane_->make_workers();
  observatory_->show({plane_->snapshot(), plane_->work()});
  if (!succession_->restore(state, facts(), plane_->workers())) state.known.neighbors.clear();
  starting_.lap("workers");
  succession_->wait_for_rest();
  control_ = std::make_unique<Control>(
      plane_->config(), plane_->ports().all(), plane_->forwarding(), log_.events(), plane_->punts(),
      plane_->pools().of(0), [this](PortIndex port, rte_mbuf* m) { return plane_->inject(port, m); },
      [this](PortIndex port) { return plane_->workers().injected(port); }, plane_->snapshot().interfaces);
  if (takes_over) control_->inherit(state.known);
  for (std::size_t p = 0; p < kMaxPorts; ++p)
    if (plane_->ports().is_missing(p)) control_->withdraw(p);
  if (takes_over) tell_main_process();
  reconfiguration_ = std::make_unique<Reconfiguration>(
      Reconfiguration::Parts{*plane_, *control_, *observatory_, *servers_, log_},
      Reconfiguration::Start{
          {std::move(config), std::move(config_hash)}, std::move(places), file_, history_->directory()});
  make_trial();
  plane_->tell_held();
  starting_.lap("control");
}

Router::~Router() = default;

void Router::make_trial() {
  trial_ = std::make_unique<Trial>(
      Trial::Router{
          .name = reconfiguration_->at_start().router.name,
          .file = file_,
          .now = [this] { return plane_->now(); },
          .in_force = [this]() -> const InForce& { return reconfiguration_->in_force(); },
          .take_over = [this](const std::string& file) { return reconfiguration_->take_over(file); },
          .go_back = [this](InForce before) { return reconfiguration_->go_back(std::move(before)); },
          .answer = [this](bool in_effect) { return reconfiguration_->answer(in_effect); },
          .changes = [this] { return reconfiguration_->changes(); }},
      *history_);
}

void Router::close() {
  Phases ending;
  servers_->close();
  ending.lap("observers");
  control_.reset();
  ending.lap("control");
  plane_->ports().close_all();
  ending.lap("ports");
  succession_->close();
  spdlog::info("closed: {}", ending.text());
}

RouterFacts Router::facts() {
  const Observatory::Identity identity = observatory_->identity();
  return {.process = ::getpid(),
          .file = whole_file_,
          .config_hash = identity.config_hash,
          .layout = layout_of(*identity.interfaces),
          .workers = plane_->workers().size(),
          .dispatch_seed = plane_->dispatch_seed(),
          .hugepages = plane_->hugepages(),
          .forwards = stage_.load() == Stage::forwards,
          .clock = plane_->clock().origin()};
}

void Router::open_servers() {
  TelemetryServer::Commands commands;
  const auto add = [&](const std::string& name, Trial::Request request) {
    commands.emplace(name, [this, request = std::move(request)](std::string_view arguments, Fd&) {
      Json answer;
      between_rounds([&] { answer = request(arguments); });
      return answer;
    });
  };
  for (auto& [name, request] : trial_->requests()) add(name, std::move(request));
  add("diff", [this](std::string_view file) { return reconfiguration_->judge(std::string(file)); });
  commands.emplace(kHandOver, [this](std::string_view what, Fd& socket) {
    if (what == kFacts) return to_json(facts());
    return succession_->begin(what, facts(), socket), Json();
  });
  commands.emplace("explain", [this](std::string_view question, Fd&) {
    return explain_packet(question, *plane_, *control_, control_call_);
  });
  servers_->open({{"events", [this] { return log_.events().rows(); }},
                  {"routes", [this] { return tables_->routes(); }},
                  {"neighbors", [this] { return tables_->neighbors(); }}},
                 std::move(commands));
}

// Runs a client's request on the control thread, so that requests, reloads and the ends of trials have one
// order. Exceptions are for the client, not for the control thread.
void Router::between_rounds(const std::function<void()>& what) {
  std::exception_ptr thrown;
  const auto guarded = [&] {
    try {
      // A new process that takes over has read its configuration; a router that ends accepts none.
      if (stage_.load() != Stage::forwards || succession_->has_begun())
        throw std::runtime_error("the router is ending, or another process is taking over: try again");
      if (!plane_->workers().updated())
        throw std::runtime_error("the last reload is still in progress: try again");
      reconfiguration_->settle();
      what();
    } catch (...) {
      thrown = std::current_exception();
    }
  };
  for (auto waited = 0ms; stage_.load() == Stage::begins && waited < kAnswerPatience; waited += 10ms)
    std::this_thread::sleep_for(10ms);
  if (!control_call_.run(
          guarded, [] {}, kAnswerPatience))
    throw std::runtime_error("the router is busy: try again");
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const Json::exception&) {
    throw std::runtime_error("invalid request: is it from another version of surety?");
  }
}

// Called when everything is open and every thread started, before the first packet is read.
void Router::confine() {
  Needs needs = needs_of(reconfiguration_->at_start(), file_);
  needs.make.push_back(history_->directory());
  confinement_ = std::make_unique<Confinement>(needs);
  spdlog::info("{}", confinement_->summary());
}

void Router::run(const std::atomic<bool>& stop, std::atomic<bool>& reload) {
  history_->open(reconfiguration_->in_force().hash);
  observatory_->open_report(reconfiguration_->at_start());
  open_servers();
  WorkerSet& workers = plane_->workers();
  std::vector<Watchdog::Watched> watched{{"the control thread", kControlStands,
                                          [this] { return rounds_.load(std::memory_order_relaxed); },
                                          ::getpid}};
  std::ranges::move(workers.watched(), std::back_inserter(watched));
  const Watchdog watchdog(std::move(watched));
  confine();
  bool more = false, handing_over = false;
  try {
    workers.launch();
    starting_.lap("observers");
    succession_->taken();
    spdlog::info("started: {}", starting_.text());
    control_call_.start();
    stage_.store(Stage::forwards);
    tell_start();
    history_->keep(trial_->is_on());  // a disk may take its time: packets pass already
    for (auto next = std::chrono::steady_clock::now();
         !stop.load(std::memory_order_relaxed) && !(handing_over = succession_->is_due());) {
      round(more, reload);
      if (std::chrono::steady_clock::now() < next) continue;
      if (workers.updated() && plane_->ports().any_missing()) reconfiguration_->open_appeared();
      tick();
      next = std::max(next + 1s, std::chrono::steady_clock::now());  // not a second for each that was missed
    }
    if (!handing_over) ServiceManager::stopping();  // the service continues in the new process
  } catch (...) {
    workers.stop(WorkerSet::kDrain);
    throw;
  }
  end(handing_over);
  if (!handing_over) return;
  const auto leave = [&] {
    HandoverState state;
    state.contracts = workers.save();
    state.known = control_->leave();
    return state;
  };
  const auto close_devices = [this] {
    servers_->close();
    plane_->ports().close_all();
  };
  succession_->hand_over({leave, close_devices, [this] { control_.reset(); }}, log_.events(), reload);
}

// One round of the control thread. `more`: the tables' copies need the next one at once.
void Router::round(bool& more, std::atomic<bool>& reload) {
  const auto updated = [this] { return plane_->workers().updated(); };
  rounds_.fetch_add(1, std::memory_order_relaxed);
  control_->round(more ? 0ms : 5ms);
  more = tables_->step(*control_, plane_->now());
  control_call_.serve();
  succession_->hear_old_process(reload);
  // A reload waits for the previous one to complete.
  if (updated()) reconfiguration_->settle();
  if (updated() && reconfiguration_->waits() && reconfiguration_->open_waiting()) trial_->forget();
  if (reload.load(std::memory_order_relaxed) && updated() && !succession_->has_begun()) {
    reload.store(false, std::memory_order_relaxed);
    trial_->reload("");
  }
  if (trial_->is_over(plane_->now()) && updated()) trial_->end();
  if (updated() && !reconfiguration_->waits() && !succession_->has_begun())
    reconfiguration_->follow_devices(plane_->now());
  plane_->workers().scan_flows(plane_->now());
}

// Called once a second.
void Router::tick() {
  history_->keep(trial_->is_on());
  const UnixTime wall = time_of_day();
  plane_->set_unix_time(wall);
  const std::size_t contracts = observatory_->sample(*control_, wall);
  log_.events().settle();
  tell_status(contracts);
}

void Router::end(bool handing_over) {
  stage_.store(Stage::ends);  // requests after this are refused
  control_call_.stop();
  const auto last = plane_->workers().read();
  Phases stopping;
  plane_->workers().stop(handing_over ? kHandOverDrain : WorkerSet::kDrain);
  stopping.lap("workers");
  spdlog::info("workers stopped: {}", stopping.text());
  observatory_->end_report(last);
}

void Router::tell_start() {
  const std::string& name = plane_->config().router.name;
  const auto open = plane_->ports().open_ports();
  const std::vector<unsigned>& cores = plane_->workers().cores();
  log_.events().add(
      {EventLevel::notice,
       EventKind::start,
       fmt::format("{} forwards between {} port{} on core{} {}{}", name, open, open == 1 ? "" : "s",
                   cores.size() > 1 ? "s" : "", fmt::join(cores, ", "), without()),
       {{"router", name}, {"version", kVersion}, {"config_hash", reconfiguration_->in_force().hash}}});
  if (reconfiguration_->in_force().config.ports.empty()) spdlog::warn("{}", advice());
  ServiceManager::ready();
}

// Ports whose device is not here.
std::string Router::without() const {
  std::vector<std::string> names;
  const config::Config& config = plane_->config();
  for (std::size_t p = 0; p < config.ports.size(); ++p)
    if (plane_->ports().is_missing(p)) names.push_back(config.ports[p].name);
  return names.empty() ? "" : fmt::format(", without {}: device missing", fmt::join(names, ", "));
}

// A first configuration has none (deploy/systemd/surety.yaml).
std::string Router::advice() const {
  return fmt::format(
      "no ports, nothing is forwarded: `surety setup` lists the NICs and writes a first configuration; "
      "or write `ports:` into {}, then run `surety reload {}`",
      file_, reconfiguration_->in_force().config.router.name);
}

// Sets the text of `systemctl status`.
void Router::tell_status(std::size_t contracts) {
  const auto& ports = reconfiguration_->in_force().config.ports;
  if (ports.empty()) return manager_.status(advice());
  manager_.status(fmt::format("{} of {} ports up, {} contracts{}", plane_->ports().up(), ports.size(),
                              contracts,
                              observatory_->last_reload_successful() ? "" : "; the last reload was refused"));
}

}  // namespace surety
