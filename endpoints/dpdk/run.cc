// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/dpdk/commands.h"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <fstream>
#include <iostream>

#include "endpoints/dpdk/plan.h"
#include "endpoints/dpdk/session.h"
#include "router/daemon/ports/stop_signals.h"

namespace surety::endpoints {

namespace {

// The file is opened before the run: an hour's measurement is not lost to a wrong path.
class JsonOutput {
 public:
  explicit JsonOutput(const std::string& where) : wanted_(!where.empty()), to_stdout_(where == "-") {
    if (!wanted_ || to_stdout_) return;
    file_.open(where);
    if (!file_)
      throw std::runtime_error(fmt::format("cannot write {}; name another file with --json", where));
  }
  void write(const Report& report) {
    if (!wanted_) return;
    (to_stdout_ ? std::cout : file_) << report.json() << std::endl;
  }
  bool to_stdout() const { return to_stdout_; }

 private:
  bool wanted_, to_stdout_;
  std::ofstream file_;
};

int measure(const config::Endpoints& config, const RunOptions& options) {
  JsonOutput json(options.json);
  const bool gentle = options.pace == Pace::gentle || (options.pace == Pace::automatic && few_cores());
  const config::Config ports = port_config(config, fmt::format("endpoint-{}", getpid()));
  const EalPlan plan =
      plan_endpoint_eal(ports, gentle ? Placement::floating : Placement::own_core, options.core);
  if (!plan.note.empty()) spdlog::warn("{}", plan.note);
  const RunningEal eal(plan, ports.router.name);
  const std::atomic<bool>& stop = stop_on_signals();
  Session session(config, ports, options, gentle);
  session.run(stop);
  const Report report = session.observer().report(options.tolerance);
  if (!json.to_stdout()) std::cout << report.text() << std::flush;
  json.write(report);
  return report.kept() && !session.observer().any_failed() ? kKept : kMissed;
}

}  // namespace

int run(const RunOptions& options) {
  auto result = config::parse_endpoints_file(options.file);
  for (const auto& d : result.diagnostics) std::cerr << d.format();
  if (!result.config) return kBadUsage;
  spdlog::set_default_logger(spdlog::stderr_color_mt("surety-endpoint"));
  spdlog::set_pattern("surety-endpoint: %^%l%$: %v");
  try {
    return measure(*result.config, options);
  } catch (const std::exception& e) {
    std::cerr << "surety-endpoint: " << e.what() << '\n';
    return kMissed;
  }
}

int check(const std::string& file) {
  const auto result = config::parse_endpoints_file(file);
  for (const auto& d : result.diagnostics) std::cout << d.format();
  if (!result.config) return kBadUsage;
  std::uint64_t flows = 0;
  for (const auto& s : result.config->senders) flows += s.flows;
  std::cout << fmt::format("{}: ok: ports: {}, sinks: {}, senders: {}, flows: {}\n", file,
                           result.config->ports.size(), result.config->sinks.size(),
                           result.config->senders.size(), flows);
  return kKept;
}

}  // namespace surety::endpoints
