// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/run.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <iostream>
#include <thread>

#include "config/parse.h"
#include "router/daemon/hand_over.h"
#include "router/daemon/phases.h"
#include "router/daemon/ports/eal.h"
#include "router/daemon/ports/memory_plan.h"
#include "router/daemon/ports/process_lock.h"
#include "router/daemon/ports/stop_signals.h"
#include "router/daemon/process_log.h"
#include "router/daemon/router.h"
#include "router/operate/generations/config_tree.h"

namespace surety {

namespace {

std::atomic<bool> reload{false};

// Installed first: SIGTERM or SIGHUP may arrive before the router forwards, and the reader of the log may
// disconnect.
const std::atomic<bool>& take_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { reload.store(true, std::memory_order_relaxed); };
  sigaction(SIGHUP, &action, nullptr);
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);
  return stop_on_signals();
}

// The process to take over from; nullptr: none is running, and this process has `lock`.
std::unique_ptr<OldProcess> old_process_of(const std::string& name, bool take_over,
                                           std::unique_ptr<ProcessLock>& lock) {
  const auto is_ours = [&] {
    lock = std::make_unique<ProcessLock>("router-" + name);
    return !lock->holder();
  };
  if (is_ours()) return nullptr;
  if (!take_over)
    throw std::runtime_error(
        fmt::format("a router named `{}` runs already (process {}); stop it, give this one another "
                    "`router: {{name: ...}}`, or `surety upgrade` it",
                    name, *lock->holder()));
  try {
    auto old_process = std::make_unique<OldProcess>(name);
    lock.reset();
    return old_process;
  } catch (const std::runtime_error&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // the holder may be about to end
    if (!is_ours()) throw;
    return nullptr;
  }
}

void forward(config::ParseResult parsed, const std::string& file, bool take_over,
             const std::atomic<bool>& stop, ProcessLog& log) {
  config::Config& config = *parsed.config;
  std::unique_ptr<ProcessLock> lock;
  std::unique_ptr<OldProcess> old_process = old_process_of(config.router.name, take_over, lock);
  const EalPlan plan = plan_eal(config, old_process != nullptr);
  if (old_process && old_process->facts().hugepages && !plan.hugepages)
    throw std::runtime_error(
        "too few hugepages are free for the old and the new process together; restart the router");
  if (!plan.note.empty()) spdlog::warn("{}", plan.note);
  const std::size_t workers = plan.worker_cores.size();
  const MemoryPlan memory = plan_memory(config, workers);
  const std::string low = check_limits(config, workers, memory, plan.hugepages, limits_here());
  if (!low.empty()) spdlog::warn("{}", low);
  spdlog::info("{}", memory.summary());
  Phases eal;
  start_eal(plan);
  eal.lap("eal");
  spdlog::info("DPDK started: {}", eal.text());
  static Router* router = nullptr;  // for as long as the process
  router = new Router(std::move(config), plan, file, hash_of(parsed.tree), log, std::move(lock),
                      std::move(old_process));
  const std::shared_ptr<Router> at_end(router, [](Router* r) { r->close(); });
  router->run(stop, reload);
}

}  // namespace

int run(const std::string& file, bool take_over) {
  const std::atomic<bool>& stop = take_signals();
  auto result = config::parse_file(file);
  for (const auto& d : result.diagnostics) std::cerr << d.format();
  if (!result.ok()) return 1;
  ProcessLog log;
  log.configure(result.config->log);
  const auto stopped = [&](EventLevel level, const std::string& why, const char* reason) {
    log.events().settle();
    log.events().add({level, EventKind::stop, why, {{"reason", reason}}});
  };
  try {
    forward(std::move(result), file, take_over, stop, log);
  } catch (const std::exception& e) {
    stopped(EventLevel::error, one_line(e.what()), "error");
    return 1;
  }
  stopped(EventLevel::notice, fmt::format("stopped by {}", stop_signals::name()), stop_signals::name());
  return 0;
}

}  // namespace surety
