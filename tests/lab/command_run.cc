// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/command_run.h"

#include <fmt/format.h>

#include <filesystem>
#include <iostream>

#include "tests/lab/run_points.h"
#include "tests/lab/run_printer.h"
#include "tests/lab/simulation/interrupt.h"
#include "tests/lab/simulation/pcapng.h"
#include "tests/lab/simulation/progress.h"
#include "tests/lab/simulation/runner.h"

namespace surety::lab {

namespace {

std::vector<Job> make_jobs(std::span<const Point> points, const RunCommand& command) {
  std::vector<Job> jobs;
  for (const Point& point : points) {
    const auto plan = make_plan(point.scenario);
    if (command.seeds)
      for (std::uint64_t seed = command.seeds->first; seed <= command.seeds->last; ++seed)
        jobs.push_back({plan, seed});
    else
      jobs.push_back({plan, command.seed.value_or(point.scenario.seed)});
  }
  return jobs;
}

// Before anything is simulated: an hour's results are not lost to a wrong path.
void make_directory(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw ScenarioError(fmt::format("cannot create the directory {}: {}", path, error.message()));
}

// The capture of `--pcap`, made when there is to be one.
class Capture {
 public:
  Capture(const RunCommand& command, std::span<const Point> points, std::span<Job> jobs) {
    if (command.pcap_file.empty()) return;
    const std::size_t link = find_link(points[0].scenario, command.pcap_link);
    writer_.emplace(command.pcap_file, points[0].scenario.links[link].name);
    jobs[0].tap = &*writer_;
    jobs[0].tap_link = link;
  }
  void close() {
    if (writer_) writer_->close();
  }

 private:
  std::optional<PcapngWriter> writer_;
};

void simulate(std::span<const Job> jobs, RunPrinter& printer, const RunCommand& command,
              const Interrupt& interrupt) {
  const std::size_t seeds = command.seeds ? command.seeds->count() : 1;
  std::uint64_t events = 0, hops = 0;
  std::size_t runs = 0;
  const Stopwatch watch;
  ProgressBar bar(stderr, jobs.size());
  RunnerOptions options;
  options.threads = command.threads;
  options.stop = interrupt.stop();
  options.progress = [&](double part) { bar.advance(part); };
  options.done = [&](std::size_t job, RunResult&& result) {
    events += result.events;
    hops += result.hops;
    ++runs;
    bar.run_done();
    bar.clear();
    printer.add(job / seeds, std::move(result));
  };
  run_jobs(jobs, options);
  printer.finish();
  bar.clear();
  std::cerr << "surety-lab: " << speed_line(runs, events, hops, watch.elapsed_s()) << '\n';
}

int run_points(const RunCommand& command, std::span<const Point> points) {
  const Interrupt interrupt;
  std::uint16_t longest = kLongestPacket;
  std::uint32_t packets = kPoolPackets;
  for (const Point& p : points) {
    longest = std::max(longest, longest_packet(p.scenario));
    packets = std::max(packets, pool_packets(p.scenario));
  }
  start_dpdk(command.threads, longest, packets);
  auto jobs = make_jobs(points, command);
  if (!command.report.empty()) make_directory(command.report);
  Capture capture(command, points, jobs);
  RunPrinter printer(std::cout, points,
                     {.json = command.json,
                      .series = command.series,
                      .seeds = command.seeds ? command.seeds->count() : 1,
                      .report = command.report});
  simulate(jobs, printer, command, interrupt);
  capture.close();
  if (!std::cout.flush()) throw std::runtime_error("cannot write to standard output");
  return interrupt.status();
}

}  // namespace

int command_run(const RunCommand& command) {
  try {
    const auto points = load_points(command, std::cerr);
    return points ? run_points(command, *points) : 1;
  } catch (const std::exception& e) {
    std::cerr << "surety-lab: " << e.what() << '\n';
    return 1;
  }
}

}  // namespace surety::lab
