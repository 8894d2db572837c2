// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/bench/bench.h"

#include <fmt/format.h>
#include <rte_cycles.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <map>

#include "router/daemon/bench/bench_report.h"
#include "router/daemon/bench/bench_subject.h"
#include "router/daemon/ports/eal.h"

namespace surety {

namespace {

constexpr std::uint64_t kPacketsPerRun = 4'000'000;
constexpr double kSeconds = 2;  // duration of a timed measurement

StageCounters measure_stages(BenchBed& bed, BenchFeed& feed, const std::string& path,
                             BenchSubject::Traffic traffic) {
  if (path == "feed" || path == "anchor") return {};
  const BenchSubject subject(bed, feed, path, traffic, true);
  const StageCounters before = subject.stages();
  subject.cycles_per_packet(kPacketsPerRun);
  StageCounters s = subject.stages();
  for (std::size_t i = 0; i < kStages; ++i) {
    s.cycles[i] -= before.cycles[i];
    s.packets[i] -= before.packets[i];
  }
  return s;
}

// The feeds of one number of flows: paths of an edge have one of each family in common.
struct Feeds {
  std::map<std::string, std::unique_ptr<BenchFeed>> made;
  static std::string kind(const std::string& path) {
    if (has_customers(path)) return by_one(path) ? "one" : "customers";
    const bool its_own =
        path == "core" || path == "access-up" || (bad_input(path) != nullptr && path != "ports");
    return its_own ? path : "edge";
  }
  static std::string key(const std::string& path, int family) {
    return fmt::format("{}{}", kind(path), family);
  }
  BenchFeed& of(const std::string& path, int family) const { return *made.at(key(path, family)); }
};

// Tags and IPv6 do not fit into the feed's 64 bytes.
bool measurable(const std::string& path, int family) {
  const BadInput* const bad = bad_input(path);
  return family == 4 || (bench_interfaces(path, 1).count == 0 && (bad == nullptr || bad->of_ipv6));
}

std::vector<BenchRow> plan_rows(const BenchOptions& o, std::uint64_t flows, std::span<const int> families) {
  std::vector<BenchRow> rows;
  for (const int family : families)
    for (const auto& path : o.paths)
      if (measurable(path, family)) rows.push_back({path, flows, family, {}, {}});
  return rows;
}

BenchSubject::Traffic traffic_of(const BenchRow& row) {
  return {static_cast<std::uint32_t>(row.flows), row.family == 6};
}

Feeds make_feeds(const BenchBed& bed, const std::vector<BenchRow>& rows) {
  Feeds feeds;
  for (const auto& row : rows) {
    auto& feed = feeds.made[Feeds::key(row.path, row.family)];
    if (!feed) feed = bed.make_feed(row.path, traffic_of(row).flows, traffic_of(row).v6);
  }
  return feeds;
}

// Measures all paths with one number of flows, interleaved, so that disturbances by the machine affect all of
// them alike.
std::vector<BenchRow> measure(BenchBed& bed, const BenchOptions& o, std::uint64_t flows,
                              std::span<const int> families) {
  std::vector<BenchRow> rows = plan_rows(o, flows, families);
  const Feeds feeds = make_feeds(bed, rows);
  std::vector<std::unique_ptr<BenchSubject>> subjects;
  subjects.reserve(rows.size());
  for (const auto& row : rows)
    subjects.push_back(std::make_unique<BenchSubject>(bed, feeds.of(row.path, row.family), row.path,
                                                      traffic_of(row), false));
  std::string line;
  for (int i = 0; o.step ? static_cast<bool>(std::getline(std::cin, line)) : i < o.repetitions; ++i) {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      subjects[r]->attach();
      rows[r].cycles.add(subjects[r]->cycles_per_packet(kPacketsPerRun));
    }
    if (o.step) print_step(rows);
  }
  for (const auto& s : subjects) s->must_be_clean();
  subjects.clear();
  if (o.step) return {};
  for (auto& row : rows)
    row.stages = measure_stages(bed, feeds.of(row.path, row.family), row.path, traffic_of(row));
  return rows;
}

// The core's IPv6 routes make the FIB grow several times, which is not planned for without huge pages.
constexpr std::uint32_t kMemory = 1024;  // MB

bool has_core(const BenchOptions& o) {
  return std::find(o.paths.begin(), o.paths.end(), "core") != o.paths.end();
}

EalPlan plan(const BenchOptions& o) {
  config::Config c = bench_config("everything", 1000);
  c.router.name = fmt::format("bench-{}", getpid());
  c.dpdk.max_routes = BenchBed::max_routes(has_core(o));
  c.dpdk.memory_mb = kMemory;
  if (o.workers)
    c.workers = {0, 1};
  else if (o.core >= 0)
    c.workers = {static_cast<unsigned>(o.core)};
  EalPlan p = plan_eal(c);
  // Without --workers the bench has one thread, on the measured core.
  const auto at = std::find(p.arguments.begin(), p.arguments.end(), "--lcores");
  if (!o.workers) *(at + 1) = fmt::format("0@{}", p.worker_cores[0]);
  p.arguments.emplace_back("--no-telemetry");
  return p;
}

void run_rates(const BenchOptions& o, unsigned core, double hz) {
  std::size_t ports = 1 + o.exits;
  for (const auto& path : o.paths) ports = std::max(ports, ports_of(path));
  BenchBed bed(has_core(o), ports, o.exits);
  if (!o.json && !o.step) print_rows_header(core, o.repetitions, hz);
  if (o.step)
    measure(bed, o, o.flows.at(0), o.families);
  else
    for (const int family : o.families)
      for (const std::uint64_t flows : o.flows)
        print_rows(measure(bed, o, flows, std::array{family}), o.json, hz);
}

void run_latency(const BenchOptions& o, unsigned core, double hz) {
  BenchBed bed(false);
  if (!o.json) print_latency_header(core, hz);
  for (const std::uint64_t flows : o.flows)
    print_latency(measure_latency(bed, static_cast<std::uint32_t>(flows), o.loads, kSeconds), o.json, hz);
}

void run(const BenchOptions& o, const std::vector<unsigned>& cores) {
  const auto hz = static_cast<double>(rte_get_tsc_hz());
  if (o.workers)
    for (const std::uint64_t flows : o.flows)
      print_workers(measure_workers(cores, static_cast<std::uint32_t>(flows), o.repetitions, kSeconds),
                    o.json);
  else if (o.latency)
    run_latency(o, cores[0], hz);
  else
    run_rates(o, cores[0], hz);
}

}  // namespace

int bench(BenchOptions options) {
  try {
    if (options.worst) {
      options.paths = {"everything", "access-up", "access-down"};
      for (const BadInput& bad : bad_inputs()) options.paths.emplace_back(bad.path);
    }
    const EalPlan p = plan(options);
    if (!p.note.empty()) std::cerr << "surety: " << p.note << '\n';
    start_eal(p);
    run(options, p.worker_cores);
  } catch (const std::exception& e) {
    std::cerr << "surety: " << e.what() << '\n';
    return 1;
  }
  return 0;
}

}  // namespace surety
