// SPDX-License-Identifier: BSD-3-Clause
// The program `surety`: one command line for running, checking, watching and measuring the router.
#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iostream>

#include "config/check.h"
#include "config/text/quantity.h"
#include "router/dpdk/bench/bench.h"
#include "router/dpdk/ports/stop_signals.h"
#include "router/dpdk/run.h"
#include "router/dpdk/show_again.h"
#include "router/observe/capture/capture.h"
#include "router/observe/explain/explain.h"
#include "router/observe/report.h"
#include "router/observe/show_command.h"
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

struct ReportOptions {
  std::string since = "24h", router, customer, format = "text", directory, file;
  bool hours = false;
};

int write_report(const ReportOptions& asked) {
  surety::ReportRequest request;
  const auto back = surety::config::parse_duration(asked.since);
  if (!back.value) {
    std::cerr << "surety report: --since " << asked.since << ": a time like `90 min` or `24 h`\n";
    return 1;
  }
  const auto now = std::chrono::floor<std::chrono::minutes>(std::chrono::system_clock::now());
  const auto since = now - std::chrono::floor<std::chrono::minutes>(*back.value);
  request.since = since.time_since_epoch().count();
  if (!asked.router.empty()) request.router = asked.router;
  if (!asked.customer.empty()) request.customer = asked.customer;
  request.directory = asked.directory;
  request.hours = asked.hours;
  using Format = surety::ReportRequest::Format;
  request.format = asked.format == "csv" ? Format::csv : asked.format == "json" ? Format::json : Format::text;
  if (asked.file.empty()) return surety::report(request, std::cout, std::cerr);
  std::ofstream out(asked.file);
  const int status = surety::report(request, out, std::cerr);
  if (out.flush()) return status;
  std::cerr << "surety report: cannot write " << asked.file << '\n';
  return 1;
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
          "ports, interfaces, queues, services, contracts, filters, flows, drops, exceptions, "
          "aggregates, domains, signalling, routes, neighbors, events, sold, workers, router or stages")
      ->required();
  show->add_option("where", request.selection.where,
                   "KEY=VALUE or KEY!=VALUE: only such rows; * in VALUE stands for anything");
  show->add_option("--sort", request.selection.sort, "KEY: numbers from the largest, others from A to Z");
  show->add_option("--top", request.selection.top, "so many rows; of events the newest");
  std::string customer;
  bool missed = false;
  show->add_option("--customer", customer, "of one customer: customer=...");
  show->add_flag("--missed", missed,
                 "contracts that got less than they asked for in the last second: met=false");
  std::vector<std::string> watch;
  auto* watched =
      show->add_option("--watch", watch,
                       "SECONDS: again and again, each 1 s by default; counters as what they grow "
                       "by in a second")
          ->expected(0, 1000)  // also of conditions that stand behind it
          ->type_name("");
  show->add_option(
      "--name", router,
      "the router's name; default: the only one that runs, or that runs in this network namespace");
  show->add_flag("--json", request.json, "for programs");
  show->add_flag(
      "--all", request.all,
      "drops, exceptions, signalling: also what never happened; queues: of members of templates, too");

  ReportOptions asked;
  auto* report =
      app.add_subcommand("report", "What each customer got of what he has bought, from what a router keeps");
  report->add_option("--since", asked.since, "how far back: 90 min, 24 h")->capture_default_str();
  report->add_option("--name", asked.router,
                     "the router's name; default: the only one that has kept anything");
  report->add_option("--customer", asked.customer, "of one customer");
  report->add_option("--directory", asked.directory, "where routers keep it (`metrics: {report: ...}`)");
  report->add_flag("--hours", asked.hours, "a row for each hour, too");
  report->add_option("--format", asked.format, "text, csv or json")
      ->check(CLI::IsMember({"text", "csv", "json"}))
      ->capture_default_str();
  report->add_option("file", asked.file, "to write it to; default: standard output");

  surety::ExplainRequest question;
  auto* explain =
      app.add_subcommand("explain", "What a running router would do to a packet that came now, and why");
  explain
      ->add_option("packet", question.words,
                   "where it comes in, a port or an interface, and its fields: source=10.1.0.1 "
                   "destination=10.2.0.1 protocol=udp source_port=1 destination_port=5004 dscp=EF vlan=7 "
                   "length=100; fields alone: a flow that is there")
      ->required();
  explain->add_option("--name", router, "the router's name; default: the only one that runs");
  explain->add_flag("--json", question.json, "for programs");

  surety::CaptureOptions wanted;
  auto* capture =
      app.add_subcommand("capture", "Packets of a running router as pcapng, until SIGINT or a limit");
  capture->add_option("what", wanted.what, "a port, an interface, a customer, or `drops`")->required();
  capture->add_option("file", wanted.file, "FILE.pcapng; -: standard output")->required();
  capture
      ->add_option(
          "--filter", wanted.filters,
          "source=, destination=, protocol=, source_port=, destination_port=, dscp=: as `match` has them")
      ->allow_extra_args(false);
  capture->add_option("--reason", wanted.reasons, "of drops; default: all")->allow_extra_args(false);
  capture->add_option("--rate", wanted.rate, "packets a second, at most")->capture_default_str();
  capture->add_option("--size", wanted.megabytes, "MB of the file, at most")->capture_default_str();
  capture->add_option("--time", wanted.seconds, "seconds, at most")->capture_default_str();
  capture->add_option("--snap", wanted.snap, "bytes of each packet, at most")->capture_default_str();
  capture->add_option("--name", router, "the router's name; default: the only one that runs");

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
  if (*report) return write_report(asked);
  if (!router.empty()) request.router = question.router = wanted.router = router;
  if (*capture) {
    std::signal(SIGPIPE, SIG_IGN);  // whoever reads standard output may go
    return surety::capture(wanted, surety::TelemetryClient(), surety::stop_on_signals(), std::cerr);
  }
  if (*explain) return surety::explain(question, surety::TelemetryClient(), std::cout, std::cerr);
  if (!customer.empty()) request.selection.where.push_back("customer=" + customer);
  if (missed) request.selection.where.push_back("met=false");
  if (*watched) return surety::show_again(std::move(request), watch);
  return surety::show(request, surety::TelemetryClient(), std::cout, std::cerr);
}
