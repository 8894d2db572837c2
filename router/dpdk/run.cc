// SPDX-License-Identifier: BSD-3-Clause
#include "router/dpdk/run.h"

#include <fmt/format.h>
#include <rte_eal.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <fstream>
#include <iostream>
#include <sstream>

#include "config/hash.h"
#include "config/parse.h"
#include "router/dpdk/ports/process_lock.h"
#include "router/dpdk/ports/stop_signals.h"
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

std::string text_of(const std::string& file) {
  std::ostringstream s;
  s << std::ifstream(file).rdbuf();
  return s.str();
}

void forward(config::Config config, const std::string& file, const std::atomic<bool>& stop) {
  const ProcessLock lock("router-" + config.router.name);
  if (lock.holder())
    throw std::runtime_error(
        fmt::format("a router named `{}` runs already (process {}); stop it, or give this one another "
                    "`router: {{name: ...}}`",
                    config.router.name, *lock.holder()));
  const EalPlan plan = plan_eal(config);
  if (!plan.note.empty()) spdlog::warn("{}", plan.note);
  start_eal(plan);
  {
    Router router(std::move(config), plan, file, config::hash_of(text_of(file)));
    router.run(stop, reload);
  }
  rte_eal_cleanup();
}

}  // namespace

int run(const std::string& file) {
  const std::atomic<bool>& stop = take_signals();
  auto result = config::parse_file(file);
  for (const auto& d : result.diagnostics) std::cerr << d.format();
  if (!result.ok()) return 1;
  spdlog::set_default_logger(spdlog::stderr_color_mt("surety"));
  spdlog::set_pattern("surety: %^%l%$: %v");
  try {
    forward(std::move(*result.config), file, stop);
  } catch (const std::exception& e) {
    std::cerr << "surety: " << e.what() << '\n';
    return 1;
  }
  return 0;
}

}  // namespace surety
