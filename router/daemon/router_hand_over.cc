// SPDX-License-Identifier: BSD-3-Clause
// A router that takes over from another one, and one that hands over (hand_over.h).
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "config/text/tree.h"
#include "router/daemon/router.h"

namespace surety {

namespace {

std::string layout_of(const Interfaces& interfaces) {
  std::string names;
  for (std::size_t i = 0; i < interfaces.size(); ++i)
    names.append(interfaces.name(static_cast<InterfaceIndex>(i))).push_back('\n');
  return config::hash_of(names);
}

}  // namespace

RouterFacts Router::facts() {
  const std::scoped_lock lock(shown_mutex_);
  return {.process = ::getpid(),
          .file = whole_file_,
          .config_hash = config_hash_,
          .layout = layout_of(*shown_interfaces_),
          .workers = workers_.size(),
          .dispatch_seed = dispatch_seed_,
          .hugepages = plan_.hugepages,
          .forwards = stage_.load() == Stage::forwards,
          .clock = clock_.origin()};
}

// The old process does not forward after this.
HandoverState Router::inherit() {
  if (!old_process_) return {};
  HandoverState state = old_process_->take();
  DpdkPort::follow_another();
  starting_.lap("old_process");
  const std::string name = "router-" + written_.router.name;
  lock_ = state.lock ? std::make_unique<ProcessLock>(name, std::move(state.lock))
                     : std::make_unique<ProcessLock>(name);
  if (lock_->holder()) throw std::runtime_error(fmt::format("process {} forwards already", *lock_->holder()));
  return state;
}

// Numbers of rules and interfaces are the same only in the same configuration.
bool Router::may_restore(const HandoverState& state) const {
  if (!old_process_ || state.contracts.empty()) return false;
  const RouterFacts& old = old_process_->facts();
  if (old.config_hash == config_hash_ && old.layout == layout_of(*snapshot_->interfaces) &&
      state.contracts.size() == workers_.size())
    return true;
  spdlog::warn("contracts reset: the old process had another configuration or number of workers");
  return false;
}

void Router::restore_contracts(const HandoverState& state) {
  std::size_t contracts = 0;
  for (std::size_t w = 0; w < workers_.size(); ++w) {
    workers_[w]->restore(state.contracts[w]);
    contracts += state.contracts[w].size();
  }
  spdlog::info("contracts taken over: contracts={} old_process={}", contracts, old_process_->facts().process);
}

// Takes over a reload request that reached the old process too late.
void Router::hear_predecessor(std::atomic<bool>& reload) {
  if (!old_process_) return;
  const auto wanted = old_process_->wants_reload();
  if (!wanted) return;
  if (*wanted) reload.store(true, std::memory_order_relaxed);
  old_process_.reset();
}

// The control thread has ended its work, and the workers theirs.
void Router::hand_over(const std::atomic<bool>& reload) {
  Phases phases;
  HandoverState state;
  for (const auto& w : workers_) state.contracts.push_back(w->ingress().save());
  state.known = control_->leave();
  new_process_.give(state, lock_->fd());
  phases.lap("contracts");
  metrics_.reset();
  telemetry_.reset();
  capture_.reset();
  for (std::size_t p = 0; p < kMaxPorts; ++p) ports_.close(p);
  new_process_.devices_are_free();
  phases.lap("devices");
  control_.reset();
  lock_->leave();
  new_process_.rest_is_free();
  phases.lap("rest");
  new_process_.wait_until_taken();
  phases.lap("new_process");
  spdlog::info("handed over: {}", phases.text());
  events_.settle();
  events_.add({EventLevel::notice,
               EventKind::stop,
               "stopped: another process has taken over",
               {{"reason", "hand-over"}}});
  if (reload.load(std::memory_order_relaxed)) new_process_.pass_on_reload();
  ::_exit(0);
}

}  // namespace surety
