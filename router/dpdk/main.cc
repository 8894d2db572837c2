// SPDX-License-Identifier: BSD-3-Clause
// The program `surety`: one command line for running, checking, watching and measuring the router.
#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>

#include "config/check.h"
#include "router/dpdk/bench/bench.h"
#include "router/dpdk/run.h"
#include "router/observe/show.h"
#include "router/process/version.h"

namespace {

int check_all(const std::vector<std::string>& files) {
  int status = 0;
  for (const auto& file : files) {
    std::string report;
    status |= surety::config::check(file, report);
    std::cout << report;
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Surety: an edge and core router that keeps promised rates"};
  app.set_version_flag("--version", surety::kVersion);
  app.require_subcommand(1);

  std::string file;
  auto* run = app.add_subcommand("run", "Forward packets as the configuration says, until SIGTERM or SIGINT");
  run->add_option("file", file, "configuration, YAML")->required();

  std::vector<std::string> files;
  auto* check =
      app.add_subcommand("check", "Check configurations: every error with its place; exit status 0 or 1");
  check->add_option("file", files, "configurations, YAML")->required();

  surety::ShowRequest request;
  std::string router;
  auto* show = app.add_subcommand("show", "Tables of a running router");
  show->add_option(
          "what", request.what,
          "ports, interfaces, queues, services, filters, flows, drops, exceptions, aggregates, domains, "
          "signalling, workers, router or stages")
      ->required();
  show->add_option("--name", router, "the router's name; default: the only one that runs");
  show->add_flag("--json", request.json, "for programs");
  show->add_flag(
      "--all", request.all,
      "drops, exceptions, signalling: also what never happened; queues: of members of templates, too");

  surety::BenchOptions options;
  auto* bench = app.add_subcommand(
      "bench", "Cycles per 64-byte packet on one core, by path, number of flows and stage");
  bench->add_option("--flows", options.flows, "numbers of flows")
      ->delimiter(',')
      ->transform(CLI::AsSizeValue(true));
  bench
      ->add_option("--paths", options.paths,
                   "feed, anchor, forward, csa, everything, core, access-up, access-down, flat, below, "
                   "flat-one, below-one")
      ->delimiter(',');
  bench->add_option("--families", options.families, "4, 6")->delimiter(',');
  bench->add_option("--repetitions", options.repetitions, "medians are of this many runs")
      ->check(CLI::Range(1, 99));
  bench->add_option("--core", options.core, "the core to measure on");
  bench->add_flag("--json", options.json, "one line of JSON per row");
  bench->add_flag("--workers", options.workers, "instead: what a second worker is worth");
  bench->add_flag("--latency", options.latency, "instead: what is added to a packet at --load, and pauses");
  bench->add_option("--load", options.load, "of the greatest rate")->check(CLI::Range(0.01, 1.0));
  bench->add_flag("--step", options.step, "a repetition for each line of standard input");

  CLI11_PARSE(app, argc, argv);
  if (*run) return surety::run(file);
  if (*check) return check_all(files);
  if (*bench) return surety::bench(options);
  if (!router.empty()) request.router = router;
  return surety::show(request, surety::TelemetryClient(), std::cout, std::cerr);
}
