// SPDX-License-Identifier: BSD-3-Clause
// The program `surety-endpoint`: traffic endpoints that prove an assured rate from end to end.
#include <CLI/CLI.hpp>
#include <iostream>

#include "config/text/quantity.h"
#include "endpoints/dpdk/commands.h"
#include "router/process/command_line.h"
#include "router/process/version.h"

namespace {

using namespace surety::endpoints;

// A quantity as in YAML, e.g. `60 s`; CLI11 reports errors.
template <class T>
auto into(T& target, surety::config::Parsed<typename T::value_type> (*parse)(std::string_view)) {
  return [&target, parse](const std::string& text) {
    const auto p = parse(text);
    if (!p.value) throw CLI::ValidationError(text, p.error);
    target = *p.value;
  };
}

void add_run(CLI::App& app, RunOptions& o, std::optional<double>& tolerance) {
  auto* run = app.add_subcommand(
      "run", "Send and receive as configured, then report; exit status 1 if a target was missed");
  run->add_option("file", o.file, "configuration, YAML")->required();
  run->add_option_function<std::string>(
      "--duration", into(o.duration, surety::config::parse_time),
      "how long to run from the first flow on, e.g. 60s; default: until all senders are done");
  run->add_option_function<std::string>("--tolerance", into(tolerance, surety::config::parse_fraction),
                                        "how much of its target a flow may miss, e.g. 4%");
  run->add_option("--json", o.json, "write the report to this file too; `-`: to standard output instead");
  run->add_flag("--live,!--no-live", o.live, "show a table each second; default: on a terminal");
  run->add_option("--metrics", o.metrics, "Prometheus address, e.g. 127.0.0.1:9466, or off");
  run->add_flag_callback(
      "--busy", [&o] { o.pace = Pace::busy; }, "poll without pause: exact pacing, uses a whole core");
  run->add_flag_callback(
      "--gentle", [&o] { o.pace = Pace::gentle; },
      "sleep up to 50 us while nothing is due; default with fewer than 3 cores");
  run->add_option("--core", o.core, "the core to poll on")->check(CLI::NonNegativeNumber);
  run->add_option("--accept", o.accept,
                  "maximum number of flows that the sinks of one port keep; default 16384")
      ->check(CLI::PositiveNumber);
}

void add_bench(CLI::App& app, BenchOptions& o) {
  auto* bench =
      app.add_subcommand("bench", "Cycles per packet of sender and sink together, beside the budgets");
  bench->add_option("--flows", o.flows, "numbers of flows")
      ->delimiter(',')
      ->transform(CLI::AsSizeValue(true));
  bench->add_option("--packet", o.packets, "IP packet sizes in bytes")->delimiter(',');
  bench->add_option("--protocols", o.protocols, "udp, gtfrc, newreno")->delimiter(',');
  bench->add_option("--repetitions", o.repetitions, "number of runs for each median")
      ->check(CLI::Range(1, 99));
  bench->add_option("--core", o.core, "the core to measure on");
  bench->add_flag("--json", o.json, "one line of JSON per row");
  bench->add_flag("--pacing", o.pacing,
                  "measure instead how exactly 1,000 gTFRC flows are paced at 5 Gbit/s in total");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Surety's traffic endpoints: gTFRC, TFRC, GTCP, NewReno, Reno and UDP on DPDK"};
  app.set_version_flag("--version", surety::kVersion);
  app.require_subcommand(1);
  RunOptions run_options;
  std::optional<double> tolerance;
  add_run(app, run_options, tolerance);
  std::string file;
  app.add_subcommand("check", "Check a configuration: every error with its place; exit status 0 or 2")
      ->add_option("file", file, "configuration, YAML")
      ->required();
  BenchOptions bench_options;
  add_bench(app, bench_options);
  if (const auto status = surety::answer_programs(app, argc, argv)) return *status;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? kKept : kBadUsage;
  }
  run_options.tolerance = tolerance.value_or(run_options.tolerance);
  if (app.got_subcommand("run")) return run(run_options);
  if (app.got_subcommand("check")) return check(file);
  return bench(bench_options);
}
