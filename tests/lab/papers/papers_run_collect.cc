// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/papers/papers_run_collect.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace surety::lab {
namespace {

constexpr double kNull = std::numeric_limits<double>::quiet_NaN();

struct NotThere {};  // a run that was not finished

void judge(const Row& row, RowResult& result) {
  if (result.seeds.empty()) return;
  const auto holds = [&](const Band& band) {
    const auto& s = result.summary;
    if (!s) return false;
    switch (row.judge) {
      case Judge::mean:
        return band.holds(s->mean);
      case Judge::min:
        return band.holds(s->min);
      case Judge::max:
        return band.holds(s->max);
      case Judge::every:
        break;
    }
    return band.holds(s->min) && band.holds(s->max);
  };
  const auto unclaimed = [&](Verdict without_pin) { return row.pin ? Verdict::pinned : without_pin; };
  if (row.pin && !holds(*row.pin)) {
    result.verdict = Verdict::pin_missed;
  } else if (!row.band) {
    result.verdict = unclaimed(Verdict::printed);
  } else if (holds(*row.band)) {
    result.verdict = Verdict::met;
  } else {
    result.verdict = row.claim ? Verdict::missed : unclaimed(Verdict::differs);
  }
}

std::optional<Summary> summary_without_null(const std::vector<double>& values) {
  if (values.empty() || std::any_of(values.begin(), values.end(), [](double x) { return std::isnan(x); }))
    return {};
  return summary_of(values);
}

// Mean and bars at one x, of a value for each seed.
void add_mean(PlotLine& line, double x, const std::vector<double>& seeds) {
  const auto s = summary_without_null(seeds);
  line.x.push_back(x);
  line.y.push_back(s ? s->mean : kNull);
  line.low.push_back(s ? s->mean - s->sd : kNull);
  line.high.push_back(s ? s->mean + s->sd : kNull);
}

}  // namespace

bool fails(Verdict v) {
  return v == Verdict::missed || v == Verdict::pin_missed || v == Verdict::broken;
}

bool ExperimentResult::failed() const {
  return !errors.empty() ||
         std::any_of(rows.begin(), rows.end(), [](const RowResult& r) { return fails(r.verdict); });
}

Collector::Collector(const Experiment& experiment, std::size_t seeds)
    : experiment_(experiment), seeds_(seeds) {
  for (const auto& row : experiment.rows) want(row.value, true);
  for (const auto& plot : experiment.plots) {
    for (const auto& line : plot.lines) {
      if (const auto* y = std::get_if<Expression>(&line.y)) want(*y, !plot.over_time);
    }
  }
}

void Collector::want(const Expression& expression, bool all_seeds) {
  for (const auto& path : expression.paths()) {
    const Key key{path.variant, path.text};
    auto& wanted = wanted_[key];
    wanted = {path, wanted.all_seeds || all_seeds};
    found_[key].resize(seeds_, std::vector<std::optional<Looked>>(experiment_.points.size()));
  }
}

void Collector::add(std::size_t variant, std::size_t point, std::size_t seed, const RunResult& run) {
  ++runs_;
  const auto tree = tree_of(run);
  for (const auto& [key, wanted] : wanted_) {
    if (key.first != variant || (seed > 0 && !wanted.all_seeds)) continue;
    auto& place = found_.at(key).at(seed).at(point).emplace();
    try {
      place.value = look_up(wanted.path, tree);
    } catch (const ValueError& e) {
      place.error = e.what();
    }
  }
}

Value Collector::look_at(const Path& path, std::size_t point, std::size_t seed) const {
  const auto& looked = found_.at({path.variant, path.text}).at(seed).at(point);
  if (!looked) throw NotThere{};
  if (!looked->error.empty()) throw ValueError(looked->error);
  return looked->value;
}

Value Collector::look(const Path& path, std::optional<std::size_t> point, std::size_t seed) const {
  if (point || !experiment_.swept) return look_at(path, point.value_or(0), seed);
  Value all{true, {}};
  for (std::size_t p = 0; p < experiment_.points.size(); ++p) {
    const Value one = look_at(path, p, seed);
    all.items.insert(all.items.end(), one.items.begin(), one.items.end());
  }
  return all;
}

std::optional<Value> Collector::evaluate(const Expression& e, std::optional<std::size_t> point,
                                         std::size_t seed) const {
  const auto source = [&](const Path& path, std::optional<double> x) {
    if (!x) return look(path, point, seed);
    const auto& points = experiment_.points;
    const auto it =
        std::find_if(points.begin(), points.end(), [&](const SweepPoint& p) { return p.x == *x; });
    return look_at(path, static_cast<std::size_t>(it - points.begin()), seed);
  };
  try {
    return e.evaluate(source);
  } catch (const NotThere&) {
    return {};
  }
}

RowResult Collector::row(const Row& row) const {
  RowResult result;
  try {
    for (std::size_t seed = 0; seed < seeds_; ++seed) {
      const auto value = evaluate(row.value, row.point, seed);
      if (value) result.seeds.push_back(value->number());
    }
    result.summary = summary_without_null(result.seeds);
    judge(row, result);
  } catch (const std::runtime_error& e) {
    result = {{}, {}, Verdict::broken, e.what()};
  }
  return result;
}

PlotLine Collector::series(const std::string& name, const Expression& y,
                           std::optional<std::size_t> point) const {
  PlotLine line;
  line.name = name;
  const auto value = evaluate(y, point, 0);
  if (!value) return line;
  if (value->sample_s <= 0) throw ValueError("not a series");
  line.y = value->items;
  for (std::size_t i = 0; i < line.y.size(); ++i)
    line.x.push_back(value->start_s + static_cast<double>(i + 1) * value->sample_s);
  return line;
}

PlotLine Collector::over_points(const std::string& name, const Expression& y) const {
  PlotLine line;
  line.name = name;
  line.points = true;
  for (std::size_t p = 0; p < experiment_.points.size(); ++p) {
    std::vector<double> seeds;
    for (std::size_t seed = 0; seed < seeds_; ++seed) {
      if (const auto value = evaluate(y, p, seed)) seeds.push_back(value->number());
    }
    add_mean(line, experiment_.points[p].x, seeds);
  }
  return line;
}

PlotLine Collector::over_items(const std::string& name, const Expression& y,
                               std::optional<std::size_t> point) const {
  PlotLine line;
  line.name = name;
  line.points = true;
  std::vector<std::vector<double>> items;  // [item][seed]
  for (std::size_t seed = 0; seed < seeds_; ++seed) {
    const auto value = evaluate(y, point, seed);
    if (!value) continue;
    items.resize(std::max(items.size(), value->items.size()));
    for (std::size_t i = 0; i < value->items.size(); ++i) items[i].push_back(value->items[i]);
  }
  for (std::size_t i = 0; i < items.size(); ++i) add_mean(line, static_cast<double>(i + 1), items[i]);
  return line;
}

PlotLine Collector::printed(const std::string& name, const std::vector<double>& y, bool over_points) const {
  PlotLine line;
  line.name = name;
  line.points = true;
  line.y = y;
  for (std::size_t i = 0; i < y.size(); ++i)
    line.x.push_back(over_points ? experiment_.points[i].x : static_cast<double>(i + 1));
  return line;
}

Plot Collector::plot(const PlotRequest& request) const {
  Plot plot = request.frame;
  const bool over_sweep = experiment_.swept && !request.point;
  for (const auto& [name, y] : request.lines) {
    if (const auto* numbers = std::get_if<std::vector<double>>(&y)) {
      plot.lines.push_back(printed(name, *numbers, over_sweep));
      continue;
    }
    const auto& expression = std::get<Expression>(y);
    if (request.over_time) {
      plot.lines.push_back(series(name, expression, request.point));
    } else if (over_sweep) {
      plot.lines.push_back(over_points(name, expression));
    } else {
      plot.lines.push_back(over_items(name, expression, request.point));
    }
  }
  return plot;
}

ExperimentResult Collector::result() const {
  ExperimentResult result;
  result.experiment = &experiment_;
  result.seeds = seeds_;
  result.runs = runs_;
  for (const auto& r : experiment_.rows) result.rows.push_back(row(r));
  for (const auto& request : experiment_.plots) {
    try {
      result.plots.push_back(plot(request));
    } catch (const std::runtime_error& e) {
      result.errors.push_back("plot \"" + request.frame.title + "\": " + e.what());
    }
  }
  return result;
}

}  // namespace surety::lab
