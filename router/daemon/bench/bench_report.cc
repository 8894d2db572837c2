// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/bench/bench_report.h"

#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

namespace surety {

namespace {

using Json = nlohmann::ordered_json;

std::optional<double> median_of(const std::vector<BenchRow>& rows, const std::string& path) {
  for (const auto& r : rows)
    if (r.path == path) return r.cycles.median();
  return std::nullopt;
}

Json stages_json(const BenchRow& row) {
  Json j = Json::object();
  const auto packets = static_cast<double>(row.stages.packets[static_cast<std::size_t>(Stage::rx)]);
  for (std::size_t s = 0; s < kStages && packets > 0; ++s)
    j[std::string(kStageNames[s])] =
        std::round(10 * static_cast<double>(row.stages.cycles[s]) / packets) / 10;
  return j;
}

// Rows of the same run, if measured.
struct Beside {
  std::optional<double> feed, anchor, everything;
};

void print_json(const BenchRow& row, const Beside& beside, double hz) {
  const double cycles = row.cycles.median();
  Json j{{"path", row.path}, {"flows", row.flows}, {"family", row.family}};
  row.cycles.write(j);
  j["mpps"] = hz / 1e6 / cycles;
  if (beside.feed) j["feed_cycles"] = *beside.feed;
  if (beside.anchor) j["ratio_to_anchor"] = cycles / *beside.anchor;
  if (beside.everything) j["ratio_to_everything"] = cycles / *beside.everything;
  j["stages"] = stages_json(row);
  std::cout << j.dump() << '\n';
}

// Microseconds.
double us(std::uint64_t cycles, double hz) {
  return std::round(1e8 * static_cast<double>(cycles) / hz) / 100;
}

Json times_json(const BenchHistogram& h, double hz) {
  return {{"count", h.count()},
          {"p50_us", us(h.quantile(0.5), hz)},
          {"p99_us", us(h.quantile(0.99), hz)},
          {"p99.9_us", us(h.quantile(0.999), hz)},
          {"max_us", us(h.longest(), hz)},
          {"above_50_us", h.above(static_cast<std::uint64_t>(50e-6 * hz))}};
}

void print_times(const char* what, const BenchHistogram& h, double hz) {
  std::cout << fmt::format("  {:<28} {:>11} {:>8.2f} {:>8.2f} {:>8.2f} {:>9.2f} {:>8}\n", what, h.count(),
                           us(h.quantile(0.5), hz), us(h.quantile(0.99), hz), us(h.quantile(0.999), hz),
                           us(h.longest(), hz), h.above(static_cast<std::uint64_t>(50e-6 * hz)));
}

}  // namespace

void print_rows_header(unsigned core, int repetitions, double hz) {
  std::cout << fmt::format(
      "64-byte packets, core {}, TSC {:.0f} MHz, {} repetitions; cycles per packet, feed and null "
      "transmit included\n{:<11} {:>8} {:>4} {:>7} {:>7} {:>7} {:>6} {:>6}  stages\n",
      core, hz / 1e6, repetitions, "path", "flows", "", "median", "min", "max", "Mpps", "ratio");
}

void print_rows(const std::vector<BenchRow>& rows, bool json, double hz) {
  const Beside beside{median_of(rows, "feed"), median_of(rows, "anchor"), median_of(rows, "everything")};
  const auto one = beside.anchor ? beside.anchor : beside.everything;
  for (const auto& row : rows) {
    if (json) {
      print_json(row, beside, hz);
      continue;
    }
    const double cycles = row.cycles.median();
    std::cout << fmt::format("{:<11} {:>8} IPv{} {:>7.1f} {:>7.1f} {:>7.1f} {:>6.1f}", row.path, row.flows,
                             row.family, cycles, row.cycles.least(), row.cycles.greatest(),
                             hz / 1e6 / cycles);
    if (one) std::cout << fmt::format(" {:>6.2f}", cycles / *one);
    const auto stages = stages_json(row);
    for (const auto& [name, value] : stages.items())
      std::cout << fmt::format("  {} {:.0f}", name, value.get<double>());
    std::cout << '\n';
  }
  std::cout << std::flush;
}

void print_workers(const std::vector<BenchWorkers>& rows, bool json) {
  if (!json)
    std::cout << fmt::format("{:<24} {:>8} {:>10} {:>10} {:>8}\n", "", "flows", "one, Mpps", "two, Mpps",
                             "ratio");
  for (const auto& row : rows) {
    const double one = row.one.median() / 1e6, two = row.two.median() / 1e6;
    if (json)
      std::cout << Json{{"workers", row.what},
                        {"flows", row.flows},
                        {"one_mpps", one},
                        {"two_mpps", two},
                        {"ratio", two / one}}
                       .dump()
                << '\n';
    else
      std::cout << fmt::format("{:<24} {:>8} {:>10.2f} {:>10.2f} {:>8.2f}\n", row.what, row.flows, one, two,
                               two / one);
  }
  std::cout << std::flush;
}

void print_step(const std::vector<BenchRow>& rows) {
  Json j = Json::object();
  for (const auto& row : rows) j[row.path + (row.family == 6 ? ", IPv6" : "")] = row.cycles.last();
  std::cout << j.dump() << std::endl;
}

void print_latency_header(unsigned core, double hz) {
  std::cout << fmt::format(
      "64-byte packets on the path `everything`, IPv4, core {}, TSC {:.0f} MHz; microseconds\n"
      "  {:<28} {:>11} {:>8} {:>8} {:>8} {:>9} {:>8}\n",
      core, hz / 1e6, "", "count", "p50", "p99", "p99.9", "max", "> 50 us");
}

void print_latency(const BenchLatency& l, bool json, double hz) {
  if (json) {
    Json loads = Json::array();
    for (const LatencyAtLoad& at : l.loads)
      loads.push_back({{"load", at.load},
                       {"mpps", at.packets_per_second / 1e6},
                       {"added", times_json(at.added, hz)},
                       {"forwarded", times_json(at.forwarded, hz)},
                       {"turns", times_json(at.turns, hz)}});
    std::cout << Json{{"flows", l.flows},
                      {"loads", loads},
                      {"flood_turns", times_json(l.flood_turns, hz)},
                      {"reload_turns", times_json(l.reload_turns, hz)},
                      {"machine", times_json(l.machine, hz)},
                      {"machine_walking", times_json(l.machine_walking, hz)}}
                     .dump()
              << std::endl;
    return;
  }
  for (const LatencyAtLoad& at : l.loads) {
    std::cout << fmt::format("{} flows, {:.1f} Mpps ({:.0f} % of the greatest rate)\n", l.flows,
                             at.packets_per_second / 1e6, 100 * at.load);
    print_times("added to a packet", at.added, hz);
    print_times("a loop that only forwards", at.forwarded, hz);
    print_times("turn to turn", at.turns, hz);
  }
  std::cout << fmt::format("{} flows\n", l.flows);
  print_times("turn to turn, all flows new", l.flood_turns, hz);
  print_times("turn to turn, reloads", l.reload_turns, hz);
  print_times("the machine alone", l.machine, hz);
  print_times("the same, walking memory", l.machine_walking, hz);
  std::cout << std::flush;
}

}  // namespace surety
