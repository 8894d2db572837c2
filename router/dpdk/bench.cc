#include "router/dpdk/bench.h"

#include <fmt/format.h>
#include <rte_cycles.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>

#include "router/dpdk/bench_loops.h"
#include "router/dpdk/bench_router.h"
#include "router/dpdk/eal.h"

namespace surety {

namespace {

constexpr std::uint64_t kPacketsPerRun = 4'000'000;

struct Row {
  std::string path;
  std::uint64_t flows = 0;
  int family = 4;
  std::vector<double> cycles;  // per packet, one per repetition
  StageCounters stages;
  double median() const {
    auto v = cycles;
    std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
    return v[v.size() / 2];
  }
};

// Something that moves a burst per call and says how many packets that were.
using Turn = std::function<std::size_t()>;

double cycles_per_packet(const Turn& turn) {
  std::uint64_t packets = 0;
  const std::uint64_t start = rte_rdtsc();
  while (packets < kPacketsPerRun) packets += turn();
  return static_cast<double>(rte_rdtsc() - start) / static_cast<double>(packets);
}

class Subject {
 public:
  Subject(const BenchBed& bed, const std::string& path, std::uint32_t flows, bool v6, bool stages) {
    if (path == "feed") {
      turn_ = [&bed] { return feed_turn(bed); };
    } else if (path == "anchor") {
      turn_ = [&bed, v6] { return anchor_turn(bed, v6); };
    } else {
      snapshot_ = std::make_unique<Snapshot>(bench_config(path, flows));
      WorkerOptions options;
      options.measure_stages = stages;
      worker_ = std::make_unique<Worker>(*snapshot_, bed.ports(), bed.forwarding().fib(),
                                         bed.forwarding().next_hops(), nullptr, options);
      turn_ = [this] { return worker_->turn(); };
    }
    // Warm up: every flow is known before it is measured.
    for (std::uint64_t packets = 0; packets < 2 * std::max<std::uint64_t>(flows, 100'000);)
      packets += turn_();
  }
  double measure() const { return cycles_per_packet(turn_); }
  StageCounters stages() const { return worker_ ? worker_->stages() : StageCounters{}; }
  // A row counts only if all of its packets took the whole path.
  void must_be_clean() const {
    for (std::size_t r = 0; worker_ && r < kDropReasons; ++r)
      if (const auto n = worker_->drops(static_cast<DropReason>(r)); n > 0)
        throw std::runtime_error(fmt::format("{} packets were dropped: {}", n, kDropReasonInfo[r].name));
  }

 private:
  std::unique_ptr<Snapshot> snapshot_;
  std::unique_ptr<Worker> worker_;
  Turn turn_;
};

StageCounters measure_stages(const BenchBed& bed, const std::string& path, std::uint32_t flows, bool v6) {
  if (path == "feed" || path == "anchor") return {};
  const Subject subject(bed, path, flows, v6, true);
  const StageCounters before = subject.stages();
  subject.measure();
  StageCounters s = subject.stages();
  for (std::size_t i = 0; i < kStages; ++i) {
    s.cycles[i] -= before.cycles[i];
    s.packets[i] -= before.packets[i];
  }
  return s;
}

// All paths of one family and number of flows, interleaved, so that what the machine does to one it does to
// all.
std::vector<Row> measure(BenchBed& bed, const BenchOptions& o, std::uint64_t flows, int family) {
  const bool v6 = family == 6;
  bed.feed(static_cast<std::uint32_t>(flows), v6);
  std::vector<Row> rows;
  std::vector<std::unique_ptr<Subject>> subjects;
  for (const auto& path : o.paths) {
    rows.push_back({path, flows, family, {}, {}});
    subjects.push_back(std::make_unique<Subject>(bed, path, static_cast<std::uint32_t>(flows), v6, false));
  }
  for (int i = 0; i < o.repetitions; ++i)
    for (std::size_t r = 0; r < rows.size(); ++r) rows[r].cycles.push_back(subjects[r]->measure());
  for (const auto& s : subjects) s->must_be_clean();
  subjects.clear();
  for (auto& row : rows) row.stages = measure_stages(bed, row.path, static_cast<std::uint32_t>(flows), v6);
  return rows;
}

std::optional<double> median_of(const std::vector<Row>& rows, const std::string& path) {
  for (const auto& r : rows)
    if (r.path == path) return r.median();
  return std::nullopt;
}

nlohmann::ordered_json stages_json(const Row& row) {
  nlohmann::ordered_json j = nlohmann::ordered_json::object();
  const auto packets = static_cast<double>(row.stages.packets[static_cast<std::size_t>(Stage::rx)]);
  for (std::size_t s = 0; s < kStages && packets > 0; ++s)
    j[std::string(kStageNames[s])] =
        std::round(10 * static_cast<double>(row.stages.cycles[s]) / packets) / 10;
  return j;
}

void print(const std::vector<Row>& rows, bool json) {
  const auto feed = median_of(rows, "feed"), anchor = median_of(rows, "anchor");
  const double mhz = static_cast<double>(rte_get_tsc_hz()) / 1e6;
  for (const auto& row : rows) {
    const double cycles = row.median();
    const auto [low, high] = std::minmax_element(row.cycles.begin(), row.cycles.end());
    if (json) {
      nlohmann::ordered_json j{
          {"path", row.path}, {"flows", row.flows}, {"family", row.family}, {"cycles_per_packet", cycles},
          {"min", *low},      {"max", *high},       {"mpps", mhz / cycles}};
      if (feed) j["feed_cycles"] = *feed;
      if (anchor) j["ratio_to_anchor"] = cycles / *anchor;
      j["stages"] = stages_json(row);
      std::cout << j.dump() << '\n';
      continue;
    }
    std::cout << fmt::format("{:<11} {:>8} IPv{} {:>7.1f} {:>7.1f} {:>7.1f} {:>6.1f}", row.path, row.flows,
                             row.family, cycles, *low, *high, mhz / cycles);
    if (anchor) std::cout << fmt::format(" {:>6.2f}", cycles / *anchor);
    const auto stages = stages_json(row);
    for (const auto& [name, value] : stages.items())
      std::cout << fmt::format("  {} {:.0f}", name, value.get<double>());
    std::cout << '\n';
  }
  std::cout << std::flush;
}

EalPlan plan(const BenchOptions& o) {
  config::Config c = bench_config("everything", 1000);
  c.router.name = fmt::format("bench-{}", getpid());
  c.dpdk.max_routes = kBenchRoutes + 16;
  if (o.core >= 0) c.workers = {static_cast<unsigned>(o.core)};
  EalPlan p = plan_eal(c);
  // One thread, on the core that is measured.
  const auto at = std::find(p.arguments.begin(), p.arguments.end(), "--lcores");
  *(at + 1) = fmt::format("0@{}", p.worker_core);
  p.arguments.emplace_back("--no-telemetry");
  return p;
}

}  // namespace

int bench(const BenchOptions& options) {
  try {
    const EalPlan p = plan(options);
    if (!p.note.empty()) std::cerr << "surety: " << p.note << '\n';
    start_eal(p);
    BenchBed bed;
    if (!options.json)
      std::cout << fmt::format(
          "64-byte packets, core {}, TSC {:.0f} MHz, {} repetitions; cycles per packet, feed and null "
          "transmit included\n{:<11} {:>8} {:>4} {:>7} {:>7} {:>7} {:>6} {:>6}  stages\n",
          p.worker_core, static_cast<double>(rte_get_tsc_hz()) / 1e6, options.repetitions, "path", "flows",
          "", "median", "min", "max", "Mpps", "ratio");
    for (const int family : options.families)
      for (const std::uint64_t flows : options.flows)
        print(measure(bed, options, flows, family), options.json);
  } catch (const std::exception& e) {
    std::cerr << "surety: " << e.what() << '\n';
    return 1;
  }
  return 0;
}

}  // namespace surety
