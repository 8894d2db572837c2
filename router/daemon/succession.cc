// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/succession.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <stdexcept>
#include <utility>

#include "config/text/tree.h"
#include "router/daemon/phases.h"
#include "router/daemon/ports/port.h"
#include "router/daemon/ports/process_lock.h"
#include "router/daemon/worker_set.h"
#include "router/operate/observe/events.h"
#include "router/pipeline/interfaces/interfaces.h"

namespace surety {

std::string layout_of(const Interfaces& interfaces) {
  std::string names;
  for (std::size_t i = 0; i < interfaces.size(); ++i)
    names.append(interfaces.name(static_cast<InterfaceIndex>(i))).push_back('\n');
  return config::hash_of(names);
}

Succession::Succession(std::unique_ptr<ProcessLock> lock, std::unique_ptr<OldProcess> old_process)
    : lock_(std::move(lock)), old_process_(std::move(old_process)) {}

Succession::~Succession() = default;

HandoverState Succession::inherit(const std::string& router, Phases& starting) {
  if (!old_process_) return {};
  HandoverState state = old_process_->take();
  DpdkPort::follow_another();
  starting.lap("old_process");
  const std::string name = "router-" + router;
  lock_ = state.lock ? std::make_unique<ProcessLock>(name, std::move(state.lock))
                     : std::make_unique<ProcessLock>(name);
  if (lock_->holder()) throw std::runtime_error(fmt::format("process {} forwards already", *lock_->holder()));
  return state;
}

bool Succession::restore(const HandoverState& state, const RouterFacts& self, WorkerSet& workers) const {
  if (!old_process_ || state.contracts.empty()) return false;
  const RouterFacts& old = old_process_->facts();
  if (old.config_hash != self.config_hash || old.layout != self.layout ||
      state.contracts.size() != workers.size()) {
    spdlog::warn("contracts reset: the old process had another configuration or number of workers");
    return false;
  }
  workers.restore(state.contracts);
  std::size_t contracts = 0;
  for (const auto& of_worker : state.contracts) contracts += of_worker.size();
  spdlog::info("contracts taken over: contracts={} old_process={}", contracts, old.process);
  return true;
}

void Succession::wait_for_rest() {
  if (old_process_) old_process_->wait_for_rest();
}

void Succession::taken() {
  if (old_process_) old_process_->taken();
}

void Succession::hear_old_process(std::atomic<bool>& reload) {
  if (!old_process_) return;
  const auto wanted = old_process_->wants_reload();
  if (!wanted) return;
  if (*wanted) reload.store(true, std::memory_order_relaxed);
  old_process_.reset();
}

void Succession::hand_over(const Steps& steps, EventLog& events, const std::atomic<bool>& reload) {
  Phases phases;
  new_process_.give(steps.leave(), lock_->fd());
  phases.lap("contracts");
  steps.close_devices();
  new_process_.devices_are_free();
  phases.lap("devices");
  steps.close_rest();
  lock_->leave();
  new_process_.rest_is_free();
  phases.lap("rest");
  new_process_.wait_until_taken();
  phases.lap("new_process");
  spdlog::info("handed over: {}", phases.text());
  events.settle();
  events.add({EventLevel::notice,
              EventKind::stop,
              "stopped: another process has taken over",
              {{"reason", "hand-over"}}});
  if (reload.load(std::memory_order_relaxed)) new_process_.pass_on_reload();
  ::_exit(0);
}

void Succession::close() {
  lock_.reset();
}

}  // namespace surety
