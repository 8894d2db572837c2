// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/results/result_flows.h"

#include <cmath>

#include "tests/lab/results/result_lines.h"

namespace surety::lab {
namespace {

using Flow = const FlowResult*;

Value loss_of(const Flow& f) {
  if (f->sent_packets == 0) return {};
  return static_cast<double>(f->lost_packets) / static_cast<double>(f->sent_packets);
}

// Where it is more than was delivered, of TCP: repetitions, and what waits behind a hole.
Value arriving(const Flow& f) {
  constexpr double kAsMuch = 0.005;
  const bool differs = std::abs(f->throughput_bps - f->delivered_bps) > kAsMuch * f->delivered_bps;
  return differs ? Value(f->throughput_bps) : std::nullopt;
}

const std::vector<Column<Flow>>& flow_columns() {
  static const std::vector<Column<Flow>> all{
      {"target", Quantity::rate, [](const Flow& f) { return unless_zero(f->target_bps); }},
      {"committed", Quantity::rate, [](const Flow& f) { return unless_zero(f->committed_bps); }},
      {"delivered", Quantity::rate, field(&FlowResult::delivered_bps)},
      {"arriving", Quantity::rate, arriving},
      {"goodput", Quantity::rate, field(&FlowResult::goodput_bps)},
      {"IN", Quantity::share, field(&FlowResult::in_share)},
      {"RoS", Quantity::share, field(&FlowResult::ros)},
      {"conformance", Quantity::share, field(&FlowResult::conformance)},
      {"loss", Quantity::share, loss_of},
      {"buffer drops", Quantity::count, field(&FlowResult::buffer_drops), true},
      {"reordered", Quantity::count, field(&FlowResult::reordered_packets), true},
      {"RTT", Quantity::duration, field(&FlowResult::rtt_mean_s)},
      {"delay", Quantity::duration, field(&FlowResult::one_way_delay_mean_s)},
      {"repeated", Quantity::count, field(&FlowResult::retransmitted_packets), true},
      {"timeouts", Quantity::count, field(&FlowResult::timeouts), true},
      {"loss events", Quantity::count, field(&FlowResult::loss_events), true},
      {"to target", Quantity::duration, field(&FlowResult::time_to_target_s), false,
       [](const Flow& f) { return f->target_bps > 0 ? "never" : ""; }},
  };
  return all;
}

std::string verdict(std::span<const Line<Flow>> lines) {
  std::size_t promised = 0, kept_ones = 0;
  for (const auto& line : lines) {
    for (const auto& flow : line.runs) {
      if (!flow || promise_of(**flow) <= 0) continue;
      ++promised;
      if (kept(**flow)) ++kept_ones;
    }
  }
  if (promised == 0) return "";
  if (kept_ones == promised) return "kept";
  return kept_ones == 0 ? "MISSED" : fmt::format("kept {} of {}", kept_ones, promised);
}

std::vector<Named<Flow>> rows_of(const RunResult& run) {
  std::vector<Named<Flow>> rows;
  for (const auto& f : run.flows) rows.push_back({{f.name, f.protocol}, &f});
  return rows;
}

std::string title_of(std::span<const Line<Flow>> lines) {
  if (lines.size() == 1) return lines[0].names[0];
  return fmt::format("{} x {}", stem_of(lines[0].names[0]), lines.size());
}

bool of_one_sender(const Line<Flow>& a, const Line<Flow>& b) {
  return stem_of(a.names[0]) == stem_of(b.names[0]);
}

std::string cell_of(const Column<Flow>& column, std::span<const Line<Flow>> row) {
  return row.size() == 1 ? cell(column, row[0]) : cell(column, row);
}

}  // namespace

ResultTable flow_table(std::span<const RunResult> runs, std::size_t rows_per_stem) {
  const auto lines = lines_of<Flow>(runs, rows_of);
  const auto columns = used(flow_columns(), lines);
  ResultTable table{"Flows", {{"flow"}, {"protocol"}}, {}};
  for (const auto& c : columns) table.columns.push_back({c.title, true});
  const std::size_t jain = table.columns.size();
  table.columns.push_back({"Jain", true});
  table.columns.push_back({"end to end"});
  for_each_row<Flow>(lines, of_one_sender, rows_per_stem, [&](std::span<const Line<Flow>> row) {
    std::vector<std::string> cells{title_of(row), row[0].names[1]};
    for (const auto& c : columns) cells.push_back(cell_of(c, row));
    cells.push_back(jain_cell<Flow>(row, [](const Flow& f) { return f->delivered_bps; }));
    cells.push_back(verdict(row));
    table.rows.push_back(std::move(cells));
  });
  drop_if_empty(table, jain);
  return table;
}

ResultTable delivered_over_seeds(std::span<const RunResult> runs, std::size_t rows_per_stem) {
  const auto lines = lines_of<Flow>(runs, rows_of);
  ResultTable table{"Delivered, over the seeds", {{"flow"}}, {}};
  for (const char* title : {"mean", "sd", "least", "greatest"}) table.columns.push_back({title, true});
  for_each_row<Flow>(lines, of_one_sender, rows_per_stem, [&](std::span<const Line<Flow>> row) {
    std::vector<double> values;
    for (const auto& line : row) {
      for (const auto& flow : line.runs) {
        if (flow) values.push_back((*flow)->delivered_bps);
      }
    }
    const Summary s = summary_of(values);
    std::vector<std::string> cells{title_of(row)};
    for (const double v : {s.mean, s.sd, s.min, s.max}) cells.push_back(shown(Quantity::rate, v));
    table.rows.push_back(std::move(cells));
  });
  return table;
}

}  // namespace surety::lab
