// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/cli/commands.h"

#include <iostream>

#include "router/daemon/bench/bench.h"
#include "router/daemon/run.h"
#include "router/daemon/upgrade.h"
#include "router/operate/explain/explain.h"
#include "router/operate/observe/telemetry_client.h"
#include "router/process/version.h"

namespace surety {

void add_commands(CLI::App& app, Action& action) {
  app.description("Surety: an edge and core router that keeps promised rates");
  app.set_version_flag("--version", kVersion);
  app.require_subcommand(1);
  for (const auto add : {add_run, add_check, add_changes, add_subscribers, add_show, add_report, add_explain,
                         add_capture, add_setup, add_doctor, add_upgrade, add_bench})
    add(app, action);
}

void add_run(CLI::App& app, Action& action) {
  const auto file = std::make_shared<std::string>();
  auto* run = app.add_subcommand("run", "Forward packets as the configuration says, until SIGTERM or SIGINT");
  run->add_option("file", *file, "configuration, YAML")->required();
  const auto take_over = std::make_shared<bool>();
  run->add_flag("--take-over", *take_over,
                "if a router of that name runs, start beside it, then take over its ports");
  run->callback(
      [&action, file, take_over] { action = [file, take_over] { return surety::run(*file, *take_over); }; });
}

void add_upgrade(CLI::App& app, Action& action) {
  const auto name = std::make_shared<std::optional<std::string>>();
  auto* upgrade = app.add_subcommand(
      "upgrade", "Start the installed program beside a running router, then take over its ports");
  add_router(upgrade, *name, "name");
  upgrade->callback([&action, name] { action = [name] { return surety::upgrade(*name); }; });
}

void add_explain(CLI::App& app, Action& action) {
  const auto question = std::make_shared<ExplainRequest>();
  auto* explain =
      app.add_subcommand("explain", "Explain what a running router would do with a packet now, and why");
  explain
      ->add_option("packet", question->words,
                   "port or interface where it arrives, and its fields: source=10.1.0.1 destination=10.2.0.1 "
                   "protocol=udp source_port=1 destination_port=5004 dscp=EF vlan=7 length=100; fields "
                   "alone: an existing flow")
      ->required();
  add_router(explain, question->router);
  explain->add_flag("--json", question->json, "for programs");
  explain->callback([&action, question] {
    action = [question] { return surety::explain(*question, TelemetryClient(), std::cout, std::cerr); };
  });
}

void add_bench(CLI::App& app, Action& action) {
  const auto options = std::make_shared<BenchOptions>();
  auto* bench = app.add_subcommand(
      "bench", "Cycles per 64-byte packet on one core, by path, number of flows and stage");
  bench->add_option("--flows", options->flows, "numbers of flows")
      ->delimiter(',')
      ->transform(CLI::AsSizeValue(true));
  bench
      ->add_option("--paths", options->paths,
                   "feed, anchor, forward, csa, everything, core, access-up, access-down, flat, below, "
                   "below-hosts, flat-one, below-one")
      ->delimiter(',');
  bench->add_flag("--worst", options->worst,
                  "instead of --paths: everything, and the same with bad input (new, classes, imix ...)");
  bench->add_option("--families", options->families, "4, 6")->delimiter(',');
  bench->add_option("--repetitions", options->repetitions, "number of runs; results are medians")
      ->check(CLI::Range(1, 99));
  bench->add_option("--exits", options->exits, "number of egress ports (paths feed to core)")
      ->check(CLI::Range(1, 16));
  bench->add_option("--core", options->core, "the core to measure on");
  bench->add_flag("--json", options->json, "one line of JSON per row");
  bench->add_flag("--workers", options->workers, "measure the gain of a second worker instead");
  bench->add_flag("--latency", options->latency, "measure the latency added at --load, and pauses, instead");
  bench->add_option("--load", options->loads, "shares of the maximum rate")
      ->delimiter(',')
      ->check(CLI::Range(0.01, 1.0));
  bench->add_flag("--step", options->step, "run one repetition for each line of standard input");
  bench->callback([&action, options] { action = [options] { return surety::bench(*options); }; });
}

}  // namespace surety
