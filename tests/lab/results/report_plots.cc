// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/results/report_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <span>

#include "tests/lab/results/result_tables.h"

namespace surety::lab {
namespace {

constexpr std::size_t kLines = 12;

struct Unit {
  double size = 1;
  std::string name;
};

PlotLine line_of(std::string name, const Series& series, double sample_s) {
  PlotLine line{.name = std::move(name), .x = {}, .y = {}};
  for (std::size_t i = 0; i < series.size(); ++i) {
    line.x.push_back(static_cast<double>(i + 1) * sample_s);
    line.y.push_back(series[i]);
  }
  return line;
}

void scale(Plot& plot, const Unit& unit) {
  plot.y_label += fmt::format(" ({})", unit.name);
  for (auto& line : plot.lines) {
    for (auto& y : line.y) y /= unit.size;
  }
  for (auto& level : plot.levels) level.y /= unit.size;
}

double greatest(const Plot& plot) {
  double most = 0;
  for (const auto& line : plot.lines) {
    for (const double y : line.y) {
      if (std::isfinite(y)) most = std::max(most, y);
    }
  }
  return most;
}

// The unit that leaves the greatest value at least 2 where one does.
Unit rate_unit(const Plot& plot) {
  const double most = greatest(plot);
  if (most < 2e3) return {1, "bit/s"};
  if (most < 2e6) return {1e3, "kbit/s"};
  return most < 2e9 ? Unit{1e6, "Mbit/s"} : Unit{1e9, "Gbit/s"};
}
Unit time_unit(const Plot& plot) {
  return greatest(plot) < 2 ? Unit{1e-3, "ms"} : Unit{1, "s"};
}

// Of many series their least, mean and greatest, at every sample where any has a value.
void add_envelope(Plot& plot, const std::string& name, std::span<const PlotLine> lines) {
  PlotLine least{.name = name + ": least", .x = {}, .y = {}}, mean = least, most = least;
  mean.name = name + ": mean";
  most.name = name + ": greatest";
  std::size_t samples = 0;
  for (const auto& l : lines) {
    samples = std::max(samples, l.x.size());
    if (l.x.size() == samples) least.x = mean.x = most.x = l.x;
  }
  for (std::size_t i = 0; i < samples; ++i) {
    double sum = 0, n = 0, low = std::numeric_limits<double>::infinity(), high = -low;
    for (const auto& l : lines) {
      if (i >= l.y.size() || !std::isfinite(l.y[i])) continue;
      sum += l.y[i];
      ++n;
      low = std::min(low, l.y[i]);
      high = std::max(high, l.y[i]);
    }
    const double none = std::numeric_limits<double>::quiet_NaN();
    least.y.push_back(n > 0 ? low : none);
    mean.y.push_back(n > 0 ? sum / n : none);
    most.y.push_back(n > 0 ? high : none);
  }
  for (auto* line : {&mean, &least, &most}) plot.lines.push_back(std::move(*line));
}

// A level that is there already gets another name.
void add_level(Plot& plot, const std::string& name, double y) {
  for (auto& level : plot.levels) {
    if (level.y != y) continue;
    if (level.name != name) level.name += ", " + name;
    return;
  }
  plot.levels.push_back({name, y});
}

// The last plot, or a new one where it has no room for so many lines.
Plot& plot_with_room(std::vector<Plot>& plots, const Plot& like, std::size_t lines = 1) {
  if (plots.empty() || plots.back().lines.size() + lines > kLines) plots.push_back(like);
  return plots.back();
}

Plot over_time(std::string title, std::string y_label) {
  Plot plot;
  plot.title = std::move(title);
  plot.x_label = "time (s)";
  plot.y_label = std::move(y_label);
  return plot;
}

// The flows of one sender of the file, from the front.
std::span<const FlowResult> first_stem(std::span<const FlowResult> flows) {
  const std::string stem = stem_of(flows[0].name);
  const auto other =
      std::find_if(flows.begin(), flows.end(), [&](const auto& f) { return stem_of(f.name) != stem; });
  return flows.first(static_cast<std::size_t>(other - flows.begin()));
}

// What is drawn of a flow; nothing of a flow that has it not.
using Pick = const Series* (*)(const FlowResult&);

bool has(const FlowResult& f, Pick pick) {
  const Series* series = pick(f);
  return series && !series->empty();
}

void add_stem(std::vector<Plot>& plots, const Plot& like, std::span<const FlowResult> stem, Pick pick,
              double sample_s) {
  std::vector<PlotLine> lines;
  for (const auto& f : stem) {
    if (has(f, pick)) lines.push_back(line_of(f.name, *pick(f), sample_s));
  }
  if (lines.empty()) return;
  if (lines.size() <= kLines) {
    auto& to = plot_with_room(plots, like, lines.size()).lines;
    std::move(lines.begin(), lines.end(), std::back_inserter(to));
  } else {
    add_envelope(plot_with_room(plots, like, 3), fmt::format("{} x {}", stem_of(stem[0].name), lines.size()),
                 lines);
  }
}

std::vector<Plot> flow_plots(const RunResult& run, const Plot& like, bool promises, Pick pick) {
  std::vector<Plot> plots;
  std::span<const FlowResult> left(run.flows), stem;
  for (; !left.empty(); left = left.subspan(stem.size())) {
    stem = first_stem(left);
    add_stem(plots, like, stem, pick, run.sample_s);
    for (const auto& f : stem) {
      if (promises && promise_of(f) > 0 && has(f, pick))
        add_level(plots.back(), stem_of(f.name), promise_of(f));
    }
  }
  for (auto& plot : plots) {
    for (auto& level : plot.levels)
      level.name = plot.levels.size() == 1 ? "promised" : level.name + " promised";
  }
  return plots;
}

Plot queue_plot(const QueueResult& q, double sample_s) {
  Plot plot = over_time("Queue " + full_name(q), "packets");
  if (!q.average_total_series.empty())
    plot.lines.push_back(line_of(q.thresholds ? "average, all" : "depth", q.average_total_series, sample_s));
  if (!q.thresholds) return plot;
  if (!q.average_in_series.empty())
    plot.lines.push_back(line_of("average, IN", q.average_in_series, sample_s));
  add_level(plot, "out min", q.thresholds->out_min);
  add_level(plot, "out max", q.thresholds->out_max);
  add_level(plot, "in min", q.thresholds->in_min);
  add_level(plot, "in max", q.thresholds->in_max);
  return plot;
}

std::vector<Plot> domain_plots(const RunResult& run) {
  std::vector<Plot> plots;
  for (const auto& d : run.domains) {
    if (d.alpha_series.empty()) continue;
    const std::string at = d.at.empty() || d.at == d.router ? "" : " at " + d.at;
    plot_with_room(plots, over_time("Alpha of the congestion domains", "alpha"))
        .lines.push_back(line_of(full_name(d) + at, d.alpha_series, run.sample_s));
  }
  return plots;
}

std::vector<Plot> aggregate_plots(const RunResult& run) {
  std::vector<Plot> plots;
  for (const auto& a : run.aggregates) {
    if (a.tpr_series.empty()) continue;
    Plot& plot = plot_with_room(plots, over_time("Temporary permitted rate of the aggregates", "TPR"));
    plot.lines.push_back(line_of(a.router + ' ' + a.name, a.tpr_series, run.sample_s));
    if (a.tpr_max_bps > 0) add_level(plot, a.name + " max", a.tpr_max_bps);
  }
  return plots;
}

using UnitOf = Unit (*)(const Plot&);
std::vector<Plot> scaled(std::vector<Plot> plots, UnitOf unit_of) {
  for (auto& p : plots) scale(p, unit_of(p));
  return plots;
}

}  // namespace

std::vector<Plot> report_plots(const RunResult& run) {
  const auto throughput = [](const FlowResult& f) { return &f.throughput_series; };
  const auto x = [](const FlowResult& f) { return controls_rate(f) ? &f.control_series : nullptr; };
  const auto window = [](const FlowResult& f) { return controls_rate(f) ? nullptr : &f.control_series; };
  const auto delay = [](const FlowResult& f) { return &f.delay_series; };
  std::vector<Plot> all;
  const auto add = [&](std::vector<Plot> plots) {
    std::move(plots.begin(), plots.end(), std::back_inserter(all));
  };
  add(scaled(flow_plots(run, over_time("Throughput at the receiver", "throughput"), true, throughput),
             rate_unit));
  add(scaled(flow_plots(run, over_time("Sending rate X (TFRC, gTFRC)", "X"), true, x), rate_unit));
  add(flow_plots(run, over_time("Congestion window (TCP)", "window (packets)"), false, window));
  add(scaled(flow_plots(run, over_time("One-way delay", "mean delay"), false, delay), time_unit));
  for (const auto& q : run.queues) {
    if (Plot plot = queue_plot(q, run.sample_s); !plot.lines.empty()) add({std::move(plot)});
  }
  add(domain_plots(run));
  add(scaled(aggregate_plots(run), rate_unit));
  return all;
}

}  // namespace surety::lab
