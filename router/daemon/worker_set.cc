// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/worker_set.h"

#include <fmt/format.h>
#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_random.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>

#include "router/daemon/workers/shared.h"
#include "router/daemon/workers/worker.h"
#include "router/operate/observe/flow_watch.h"
#include "router/operate/observe/reading_merge.h"

namespace surety {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kPlacesPerRound = 16384;  // flow table places: 4 million in a second or two
constexpr Duration kWorkerStands = 1s;          // a worker turns every 10 ms at least
// A worker takes a snapshot over within its turn; this one has been away, as the machine's scheduler wanted
// it.
constexpr auto kAdoptionPatience = 1s;

}  // namespace

WorkerSet::WorkerSet(const WorkPlan& plan, const WorkerEnvironment& environment, WorkerOptions options,
                     rte_rcu_qsbr* rcu)
    : cores_(plan.cores), fabric_(std::make_unique<Fabric>("fabric", plan)) {
  for (std::size_t w = 0; w < cores_.size(); ++w) {
    options.core = cores_[w];
    options.seed = rte_rand();
    workers_.push_back(std::make_unique<Worker>(environment, plan, w, fabric_.get(), options));
  }
  const Snapshot& snapshot = environment.snapshot;
  std::vector<ContractWatch::Source> sources;
  for (auto& w : workers_) {
    sources.push_back({&w->ingress(), &w->losses()});
    w->connect(workers_);
    top_.emplace_back(w->ingress(), snapshot, snapshot.config.metrics.top_flows);
    w->report_to(rcu);
  }
  contracts_ = std::make_unique<ContractWatch>(std::move(sources), snapshot);
}

WorkerSet::~WorkerSet() = default;

void WorkerSet::launch() {
  for (std::size_t w = 0; w < workers_.size(); ++w) {
    const auto run = [](void* self) {
      static_cast<Worker*>(self)->run(kDrain);
      return 0;
    };
    const int launched = rte_eal_remote_launch(run, workers_[w].get(), static_cast<unsigned>(w + 1));
    if (launched != 0)
      throw std::runtime_error(
          fmt::format("cannot start a worker on core {}: {}", cores_[w], rte_strerror(-launched)));
  }
}

void WorkerSet::stop(Duration drain) {
  for (auto& w : workers_) w->stop(drain);
  rte_eal_mp_wait_lcore();
}

std::vector<Watchdog::Watched> WorkerSet::watched() const {
  std::vector<Watchdog::Watched> all;
  for (std::size_t w = 0; w < workers_.size(); ++w)
    all.push_back({fmt::format("worker {} on core {}", w, cores_[w]), kWorkerStands,
                   [worker = workers_[w].get()] { return worker->last_turn(); },
                   [worker = workers_[w].get()] { return worker->thread_id(); }, true});
  return all;
}

bool WorkerSet::updated() const {
  return std::all_of(workers_.begin(), workers_.end(), [](const auto& w) { return w->updated(); });
}

std::optional<Reading> WorkerSet::read() {
  const auto lock = hold();
  if (!updated()) return std::nullopt;
  Reading all;
  for (auto& w : workers_) {
    const auto part = w->read();
    if (!part) return std::nullopt;
    merge(all, *part);
  }
  return all;
}

void WorkerSet::open_rings(const WorkPlan& now, const WorkPlan& next) {
  for (std::size_t p = 0; p < next.ports.size(); ++p)
    if (next.ports[p].exists() && !now.ports[p].exists()) fabric_->open(next, static_cast<PortIndex>(p));
}

WorkerSet::Updates WorkerSet::prepare(const Snapshot& next, const WorkPlan& plan) const {
  Updates updates;
  for (auto& w : workers_) updates.push_back(w->prepare(next, &plan));
  for (std::size_t w = 0; w < workers_.size(); ++w) workers_[w]->connect(*updates[w], updates);
  return updates;
}

void WorkerSet::adopt(const Snapshot& before, const Snapshot& next, const SignalKeys* keys, Updates updates) {
  updates_ = std::move(updates);
  // Clears the counts of removed interfaces whose places are in use again.
  for (std::size_t i = before.config.ports.size(); i < next.interfaces->size(); ++i)
    if (const auto index = static_cast<InterfaceIndex>(i); !before.interfaces->exists(index))
      for (const auto& w : workers_) w->interfaces().forget(index);
  for (auto& t : top_) t.follow(next, next.config.metrics.top_flows);
  contracts_->follow(next);
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    updates_[i]->keys = keys;
    workers_[i]->update(*updates_[i]);
  }
  const auto until = std::chrono::steady_clock::now() + kAdoptionPatience;
  while (!updated() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(20us);
}

void WorkerSet::tell_adopted() const {
  if (!updated())
    return spdlog::warn("a worker does not answer; it adopts the new configuration as soon as it runs again");
  std::uint64_t longest = 0;
  for (const auto& u : updates_) longest = std::max(longest, u->cycles);
  spdlog::info("workers updated: workers={} longest_us={:.1f}", workers_.size(),
               static_cast<double>(longest) * 1e6 / static_cast<double>(rte_get_tsc_hz()));
}

void WorkerSet::forget_updates() {
  updates_.clear();
}

bool WorkerSet::inject(PortIndex port, std::size_t owner, rte_mbuf* m) {
  if (fabric_->injected(port)->enqueue({&m, 1}) == 0) return false;
  workers_[owner]->wake();
  return true;
}

std::size_t WorkerSet::injected(PortIndex port) const {
  const Handover* ring = fabric_->injected(port);
  return ring != nullptr ? ring->size() : 0;
}

std::vector<std::vector<ContractState>> WorkerSet::save() const {
  std::vector<std::vector<ContractState>> contracts;
  for (const auto& w : workers_) contracts.push_back(w->ingress().save());
  return contracts;
}

void WorkerSet::restore(std::span<const std::vector<ContractState>> contracts) {
  for (std::size_t w = 0; w < workers_.size(); ++w) workers_[w]->restore(contracts[w]);
}

void WorkerSet::scan_flows(Time now) {
  for (auto& t : top_) t.look(kPlacesPerRound, now);
}

std::vector<FlowReading> WorkerSet::top_flows(std::size_t count) const {
  std::vector<FlowReading> flows;
  for (const auto& t : top_) flows.insert(flows.end(), t.largest().begin(), t.largest().end());
  const auto bytes = [](const FlowReading& f) { return f.in_bytes + f.out_bytes; };
  std::stable_sort(flows.begin(), flows.end(),
                   [&](const FlowReading& a, const FlowReading& b) { return bytes(a) > bytes(b); });
  flows.resize(std::min<std::size_t>(flows.size(), count));
  return flows;
}

std::vector<const InterfaceCounters*> WorkerSet::interface_counters() const {
  std::vector<const InterfaceCounters*> counters;
  for (const auto& w : workers_) counters.push_back(&w->interfaces());
  return counters;
}

}  // namespace surety
