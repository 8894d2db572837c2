// SPDX-License-Identifier: BSD-3-Clause
// The program `surety-lab`: routers and endpoints in virtual time, and the papers reproduced.
#include <CLI/CLI.hpp>
#include <iostream>
#include <tuple>

#include "router/process/command_line.h"
#include "router/process/version.h"
#include "tests/lab/command_check.h"
#include "tests/lab/command_papers.h"
#include "tests/lab/command_run.h"
#include "tests/lab/live/command_live.h"
#include "tests/lab/scenario/scenario_schema.h"
#include "tests/lab/scenario/sweep.h"
#include "tests/lab/simulation/lab_dpdk.h"

namespace {

using namespace surety::lab;

// Each value of an option that may be given several times, by a parser whose errors are CLI's to show.
template <class T>
CLI::Option* add_each(CLI::App* app, const char* name, std::vector<T>& target, T (*parse)(std::string_view),
                      const char* help) {
  const auto take = [name, &target, parse](const std::vector<std::string>& texts) {
    for (const auto& text : texts) try {
        target.push_back(parse(text));
      } catch (const std::invalid_argument& e) {
        throw CLI::ValidationError(name, e.what());
      }
  };
  return app->add_option_function<std::vector<std::string>>(name, take, help);
}

void add_threads(CLI::App* app, unsigned& threads) {
  app->add_option("--threads", threads, "number of threads; default: one per core")
      ->check(CLI::Range(1u, kMaxThreads));
}

struct RunArguments {
  RunCommand command;
  std::vector<Sweep> sweeps;
  std::pair<std::string, std::string> pcap;

  RunCommand complete() {
    command.points = points(sweeps);
    std::tie(command.pcap_link, command.pcap_file) = pcap;
    return command;
  }
};

void add_run(CLI::App& app, RunArguments& arguments) {
  RunCommand& o = arguments.command;
  auto* run = app.add_subcommand("run", "Simulate a scenario and print what its flows and queues did");
  run->add_option("file", o.file, "scenario, YAML")->required();
  auto* seed = run->add_option("--seed", o.seed, "seed of the one run; default: the scenario's")
                   ->check(CLI::NonNegativeNumber);
  const auto take_seeds = [&o](const std::string& text) {
    try {
      o.seeds = parse_seeds(text);
    } catch (const std::invalid_argument& e) {
      throw CLI::ValidationError("--seeds", e.what());
    }
  };
  auto* seeds =
      run->add_option_function<std::string>(
             "--seeds", take_seeds, "N or FIRST-LAST: run seeds 1 to N, or these; adds mean, sd, min and max")
          ->excludes(seed);
  run->add_flag("--json", o.json, "one line of JSON for each run");
  run->add_flag("--series", o.series, "with --json: the first run's line has its series over time too");
  run->add_option("--report", o.report,
                  "directory for a page with charts (index.html), and the series as CSV");
  add_each(run, "--set", o.settings, parse_setting,
           "key=value: overrides the file, as in `senders.long.target=400 kbit/s`");
  auto* sweep = add_each(
      run, "--sweep", arguments.sweeps, parse_sweep,
      "key=a,b,c: run the scenario with each of these values; several options: with each combination");
  run->add_option("--pcap", arguments.pcap,
                  "LINK FILE: packets that enter the link, as pcapng; LINK as in `h1 edge.a`")
      ->excludes(seeds)
      ->excludes(sweep);
  add_threads(run, o.threads);
}

// Its options are Python's to read, --help included.
CLI::App* add_papers(CLI::App& app) {
  auto* papers =
      app.add_subcommand("papers", "Reproduce the five papers; exit status 1 when a band is missed");
  papers->set_help_flag();
  return papers->prefix_command();
}

void add_live(CLI::App& app, LiveOptions& o) {
  auto* live = app.add_subcommand(
      "live", "Run a scenario with the real programs in real time, beside the simulation; needs root");
  live->add_option("file", o.file, "scenario, YAML")->required();
  add_each(live, "--set", o.settings, parse_setting, "key=value: overrides the file");
  live->add_option("--seed", o.seed, "seed of start times and losses")->check(CLI::NonNegativeNumber);
  live->add_option("--keep", o.keep_dir, "directory for the programs' configurations and reports");
  live->add_flag("--json", o.json, "JSON, for programs");
}

int start_run(RunArguments& arguments) {
  try {
    return command_run(arguments.complete());
  } catch (const std::invalid_argument& e) {
    std::cerr << "--sweep: " << e.what() << '\n';
    return 2;
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Surety's lab: its routers and endpoints in virtual time"};
  app.set_version_flag("--version", surety::kVersion);
  app.require_subcommand(1);
  app.add_flag_callback(
      "--schema",
      [] {
        std::cout << kScenarioSchema;
        throw CLI::Success();
      },
      "Print the JSON Schema of scenarios and exit");

  RunArguments run;
  add_run(app, run);
  std::vector<std::string> files;
  app.add_subcommand("check", "Check scenarios: every error with its place; exit status 0 or 1")
      ->add_option("file", files, "scenarios, YAML")
      ->required();
  const auto* papers = add_papers(app);
  LiveOptions live;
  add_live(app, live);
  if (const auto status = surety::answer_programs(app, argc, argv)) return *status;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  if (app.got_subcommand("run")) return start_run(run);
  if (app.got_subcommand("check")) return command_check(files);
  if (app.got_subcommand("papers")) return command_papers(papers->remaining());
  return command_live(live);
}
