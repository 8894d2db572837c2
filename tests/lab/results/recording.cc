// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/results/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "router/process/human.h"
#include "tests/lab/results/result_flows.h"
#include "tests/lab/results/result_json.h"
#include "tests/lab/results/result_tables.h"
#include "tests/lab/results/result_text.h"

namespace surety::lab {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kRowsPerStem = 40, kMostQueues = 1000;

// What the first run's series become: values in other units, as many in a row as one as `stride` says.
struct Pen {
  std::size_t stride;

  void put(Json& row, const char* member, const Series& series, double scale, int decimals) const {
    if (series.empty()) return;
    Json& values = row["over_time"][member] = Json::array();
    for (std::size_t i = 0; i < series.size(); i += stride) {
      double sum = 0, n = 0;
      for (std::size_t k = i; k < std::min(i + stride, series.size()); ++k) {
        if (!std::isfinite(series[k])) continue;
        sum += series[k];
        ++n;
      }
      values.push_back(n > 0 ? rounded(sum / n * scale, decimals) : Json());
    }
  }
};

constexpr double kBytes = 1. / 8;  // of bits

void put_rate(Json& row, const char* member, double bps) {
  if (bps > 0) row[member] = rounded(bps * kBytes, 0);
}

Json row_of(const FlowResult& f, const Pen& pen) {
  const std::string sender = stem_of(f.name);
  Json row = {{"customer", sender}, {"service", f.protocol}, {"contract", f.name.substr(sender.size())}};
  put_rate(row, "committed_bytes_per_second", promise_of(f));
  put_rate(row, "offered_bytes_per_second", f.offered_bps);
  row["delivered_bytes_per_second"] = rounded(f.delivered_bps * kBytes, 0);
  if (f.ros) row["respect_ratio"] = rounded(*f.ros, 6);
  if (f.conformance) {
    row["conformance_ratio"] = rounded(*f.conformance, 6);
    row["met"] = *f.conformance == 1;
  }
  if (promise_of(f) > 0) row["end_to_end"] = kept(f) ? "kept" : "MISSED";
  std::uint64_t dropped = 0;
  for (const auto& [router, n] : f.drops) dropped += n[0] + n[1];
  row.update({{"dropped_conditioner", f.buffer_drops}, {"dropped_queue", dropped}});
  pen.put(row, "throughput_bytes_per_second", f.throughput_series, kBytes, 0);
  if (controls_rate(f))
    pen.put(row, "rate_bytes_per_second", f.control_series, kBytes, 0);
  else
    pen.put(row, "window", f.control_series, 1, 3);
  pen.put(row, "delay_seconds", f.delay_series, 1, 6);
  return row;
}

Json row_of(const PrecedenceResult& p) {
  return {{"arrivals", p.arrivals},
          {"early_drops", p.early_drops},
          {"forced_drops", p.forced_drops},
          {"overflow_drops", p.overflow_drops}};
}

Json row_of(const QueueResult& q, const Pen& pen) {
  Json row = {{"port", q.router + '.' + q.port},
              {"name", q.queue},
              {"rio", q.thresholds.has_value()},
              {"average_total", rounded(q.average_total_mean, 3)},
              {"in", row_of(q.by_precedence[index(Precedence::in)])},
              {"out", row_of(q.by_precedence[index(Precedence::out)])}};
  if (const auto& red = q.by_precedence[index(Precedence::red)]; red.arrivals > 0) row["red"] = row_of(red);
  if (!q.interface.empty()) row["interface"] = q.interface;
  if (const auto& t = q.thresholds) {
    row["average_in"] = rounded(q.average_in_mean, 3);
    row["in"].update({{"min", t->in_min}, {"max", t->in_max}});
    row["out"].update({{"min", t->out_min}, {"max", t->out_max}});
    pen.put(row, "average_in", q.average_in_series, 1, 3);
  }
  pen.put(row, "average_total", q.average_total_series, 1, 3);
  return row;
}

Json row_of(const DomainResult& d, const Pen& pen) {
  const std::string at = d.at.empty() || d.at == d.router ? "" : " at " + d.at;
  Json row = {{"name", full_name(d) + at}, {"alpha_ratio", rounded(d.alpha_last, 6)}};
  pen.put(row, "alpha_ratio", d.alpha_series, 1, 6);
  return row;
}

Json row_of(const AggregateResult& a, const Pen& pen) {
  Json row = {{"name", a.router + ' ' + a.name}, {"tpr_bytes_per_second", rounded(a.tpr_bps * kBytes, 0)}};
  pen.put(row, "tpr_bytes_per_second", a.tpr_series, kBytes, 0);
  return row;
}

std::size_t values_in(const RunResult& r) {
  std::size_t n = 0;
  for (const auto& f : r.flows)
    n += f.throughput_series.size() + f.control_series.size() + f.delay_series.size();
  for (const auto& q : r.queues) n += q.average_in_series.size() + q.average_total_series.size();
  for (const auto& d : r.domains) n += d.alpha_series.size();
  for (const auto& a : r.aggregates) n += a.tpr_series.size();
  return n;
}

Json tables_of(const RunResult& run, const Pen& pen) {
  Json tables = Json::object();
  for (const auto& f : run.flows) tables["contracts"].push_back(row_of(f, pen));
  for (const auto& q : run.queues)
    if (!q.average_total_series.empty() && tables["queues"].size() < kMostQueues)
      tables["queues"].push_back(row_of(q, pen));
  for (const auto& d : run.domains) tables["domains"].push_back(row_of(d, pen));
  for (const auto& a : run.aggregates) tables["aggregates"].push_back(row_of(a, pen));
  return tables;
}

std::string one_way(const LinkDirection& d) {
  std::string text = d.rate ? human::rate(d.rate->bytes_per_second()) : "unlimited";
  text += ", " + human::duration(seconds(d.delay));
  if (d.loss.value() > 0) text += fmt::format(", loss {:.3g} %", d.loss.value() * 100);
  if (d.queue) text += fmt::format(", queue {}", *d.queue);
  return text;
}

ResultTable links_of(const Scenario& scenario) {
  ResultTable table{"Links", {{"link"}, {"forth"}, {"back"}}, {}};
  for (const auto& link : scenario.links)
    table.rows.push_back({link.name, one_way(link.forth), one_way(link.back)});
  return table;
}

Json json_of(const ResultTable& table) {
  Json columns = Json::array();
  for (const auto& c : table.columns) columns.push_back({{"title", c.title}, {"number", c.number}});
  return {{"title", table.title}, {"columns", columns}, {"rows", table.rows}};
}

Json results_of(const Scenario& scenario, std::span<const RunResult> runs) {
  Json all = Json::array();
  for (const auto& table : result_tables(runs, kRowsPerStem)) all.push_back(json_of(table));
  if (runs.size() > 1) all.push_back(json_of(delivered_over_seeds(runs, kRowsPerStem)));
  all.push_back(json_of(links_of(scenario)));
  return all;
}

}  // namespace

Json recording_of(const Scenario& scenario, std::span<const RunResult> runs, std::size_t most_values) {
  const RunResult none;
  const RunResult& first = runs.empty() ? none : runs[0];
  const Pen pen{std::max<std::size_t>(1, (values_in(first) + most_values - 1) / most_values)};
  const double step = first.sample_s * static_cast<double>(pen.stride);
  std::string about = heading(runs);
  if (!runs.empty())
    about += fmt::format("; over time: seed {}, a value every {} s, all of them in the CSV files beside this",
                         first.seed, step);
  return {{"title", scenario.name.empty() ? scenario.file : scenario.name},
          {"about", about},
          {"step_seconds", step},
          {"tables", tables_of(first, pen)},
          {"results", results_of(scenario, runs)}};
}

}  // namespace surety::lab
