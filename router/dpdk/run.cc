// SPDX-License-Identifier: BSD-3-Clause
#include "router/dpdk/run.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <iostream>

#include "config/parse.h"
#include "router/dpdk/phases.h"
#include "router/dpdk/ports/process_lock.h"
#include "router/dpdk/ports/stop_signals.h"
#include "router/dpdk/process_log.h"
#include "router/dpdk/router.h"

namespace surety {

namespace {

std::atomic<bool> reload{false};

// From the first moment on: whoever starts a router may tell it to end, or to look at its configuration,
// before it forwards; and whoever reads its log may go away.
const std::atomic<bool>& take_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { reload.store(true, std::memory_order_relaxed); };
  sigaction(SIGHUP, &action, nullptr);
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);
  return stop_on_signals();
}

void forward(config::ParseResult parsed, const std::string& file, const std::atomic<bool>& stop,
             ProcessLog& log) {
  config::Config& config = *parsed.config;
  const ProcessLock lock("router-" + config.router.name);
  if (lock.holder())
    throw std::runtime_error(
        fmt::format("a router named `{}` runs already (process {}); stop it, or give this one another "
                    "`router: {{name: ...}}`",
                    config.router.name, *lock.holder()));
  const EalPlan plan = plan_eal(config);
  if (!plan.note.empty()) spdlog::warn("{}", plan.note);
  Phases eal;
  start_eal(plan);
  eal.lap("EAL");
  spdlog::info("begun {}", eal.text());
  static Router* router = nullptr;  // for as long as the process
  router = new Router(std::move(config), plan, file, parsed.tree.hash(), log);
  const std::shared_ptr<Router> at_end(router, [](Router* r) { r->close(); });
  router->run(stop, reload);
}

}  // namespace

int run(const std::string& file) {
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
    forward(std::move(result), file, stop, log);
  } catch (const std::exception& e) {
    stopped(EventLevel::error, e.what(), "error");
    return 1;
  }
  stopped(EventLevel::notice, fmt::format("stopped by {}", stop_signals::name()), stop_signals::name());
  return 0;
}

}  // namespace surety
