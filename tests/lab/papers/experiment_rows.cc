// SPDX-License-Identifier: BSD-3-Clause
// `rows` and `plots`: what is looked at.
#include <fmt/format.h>

#include <algorithm>

#include "config/suggest.h"
#include "tests/lab/papers/experiment_sections.h"

namespace surety::lab {
namespace {

using config::MapReader;
using config::Node;
using config::Problems;
using config::quote;

std::vector<std::string> names_of(const std::vector<SweepPoint>& points) {
  std::vector<std::string> names;
  for (const auto& p : points) names.push_back(fmt::format("{}", p.x));
  return names;
}

std::optional<std::size_t> point_at(double x, const Experiment& e) {
  const auto it =
      std::find_if(e.points.begin(), e.points.end(), [&](const SweepPoint& p) { return p.x == x; });
  if (it == e.points.end() || !e.swept) return {};
  return static_cast<std::size_t>(it - e.points.begin());
}

std::string no_point(double x, const Experiment& e) {
  if (!e.swept) return "there is no sweep, so there are no points";
  const auto there = names_of(e.points);
  const std::vector<std::string_view> names(there.begin(), there.end());
  return fmt::format("the sweep has no point {}; there are: {}", x, fmt::join(names, ", "));
}

// Which rows a row stands for: `each: true`, `at: 20`, `at: [10, 20]`, or one over all points.
std::vector<std::optional<std::size_t>> read_points(MapReader& map, const Experiment& e, Problems& problems) {
  std::vector<std::optional<std::size_t>> points;
  bool each = false;
  map.read("each", each);
  const Node* at = map.find("at");
  if (each && !e.swept) problems.error(map.at("each"), "there is no sweep, so there are no points");
  if (each && at) problems.error(at->mark, "`each` and `at`: leave one of them out");
  for (std::size_t i = 0; each && i < e.points.size(); ++i) points.emplace_back(i);
  if (at && !each) {
    for (const Node* n : config::list_of(*at)) points.push_back(read_point(*n, e, problems));
  }
  if (points.empty()) points.emplace_back();
  return points;
}

// One for all rows, or a list with one for each of them.
std::vector<const Node*> read_for_rows(MapReader& map, std::string_view key, std::string_view keys,
                                       std::size_t rows, Problems& problems) {
  const Node *one = map.find(key), *many = map.find(keys);
  if (one && many) problems.error(many->mark, fmt::format("`{}` and `{}`: leave one of them out", key, keys));
  if (!many) return std::vector<const Node*>(rows, one);
  auto items = config::sequence(*many, keys, problems);
  if (items.size() != rows)
    problems.error(many->mark,
                   fmt::format("{} {} for {} row{}", items.size(), keys, rows, rows == 1 ? "" : "s"));
  items.resize(rows);
  return items;
}

std::optional<Band> read_band(const Node* node, Problems& problems) {
  if (!node) return {};
  const auto* text = config::text_of(*node, "a band like `630 - 700`, `>= 770` or `none`", problems);
  if (!text || *text == "none") return {};
  auto band = Band::parse(*text);
  if (!band)
    problems.error(node->mark,
                   fmt::format("{} is not a band; write `630 - 700`, `>= 770`, `> 15`, `<= 0.4`, `< 120`, "
                               "`= 6244` or `none`",
                               quote(*text)));
  return band;
}

std::string label_of(const std::string& what, std::optional<std::size_t> point, const Experiment& e) {
  return point ? fmt::format("{}, {} {}", what, e.sweep_label, e.points[*point].x) : what;
}

void check_row(MapReader& map, const Row& row, Problems& problems) {
  if (!row.claim && !row.band && !problems.any_error())
    problems.error(map.at("claim"), "`claim` without a `band`: there is nothing to claim");
  if (!row.claim && row.reason.empty())
    problems.error(map.at("claim"), "a band that is not claimed needs a `reason`: why does ours differ?");
}

void read_row(const Node& node, Experiment& e, Problems& problems) {
  MapReader map(node, "a row", problems);
  Row row;
  map.required("what", row.what);
  map.read("unit", row.unit);
  const Node* value = map.require("value");
  const auto points = read_points(map, e, problems);
  const auto papers = read_for_rows(map, "paper", "papers", points.size(), problems);
  const auto bands = read_for_rows(map, "band", "bands", points.size(), problems);
  const auto pins = read_for_rows(map, "pin", "pins", points.size(), problems);
  map.read("claim", row.claim);
  map.read_word("judge", row.judge,
                {{"mean", Judge::mean}, {"every", Judge::every}, {"min", Judge::min}, {"max", Judge::max}});
  map.read("reason", row.reason);
  if (value) row.value = read_expression(*value, e, problems).value_or(row.value);
  for (std::size_t i = 0; i < points.size(); ++i) {
    Row& one = e.rows.emplace_back(row);
    one.point = points[i];
    one.what = label_of(row.what, points[i], e);
    if (papers[i]) read_value(*papers[i], one.paper, problems);
    one.band = read_band(bands[i], problems);
    one.pin = read_band(pins[i], problems);
    if (i == 0 || bands[i] != bands[0]) check_row(map, one, problems);
  }
}

void read_lines(const Node& node, PlotRequest& plot, const Experiment& e, Problems& problems) {
  MapReader map(node, "lines by name", problems);
  map.ignore_the_rest();
  for (const auto& [name, value] : node.entries) {
    if (value->kind == Node::Kind::sequence && !plot.over_time) {
      auto numbers = read_numbers(*value, problems);
      if (e.swept && numbers.size() != e.points.size())
        problems.error(value->mark, fmt::format("{} numbers for {} points", numbers.size(), e.points.size()));
      plot.lines.push_back({name->text, std::move(numbers)});
    } else if (auto expression = read_expression(*value, e, problems)) {
      plot.lines.push_back({name->text, std::move(*expression)});
    }
  }
}

void read_levels(const Node& node, PlotRequest& plot, Problems& problems) {
  MapReader map(node, "levels by name", problems);
  map.ignore_the_rest();
  for (const auto& [name, value] : node.entries) {
    if (double y = 0; read_number(*value, y, problems)) plot.frame.levels.push_back({name->text, y});
  }
}

void read_plot(const Node& node, Experiment& e, Problems& problems) {
  MapReader map(node, "a plot", problems);
  PlotRequest& plot = e.plots.emplace_back();
  map.required("title", plot.frame.title);
  const Node *lines = map.find("lines"), *series = map.find("series");
  plot.over_time = series != nullptr;
  plot.frame.x_label = plot.over_time ? "time (s)" : e.sweep_label;
  map.read("x", plot.frame.x_label);
  map.read("y", plot.frame.y_label);
  if (const Node* n = map.find("at")) plot.point = read_point(*n, e, problems);
  if (!lines == !series) {
    problems.error(node.mark, "a plot has either `lines` (over the sweep) or `series` (over time)");
  } else {
    read_lines(lines ? *lines : *series, plot, e, problems);
  }
  if (const Node* n = map.find("levels")) read_levels(*n, plot, problems);
  for (const auto& [key, limit] :
       {std::pair{"y_min", &plot.frame.y_min}, std::pair{"y_max", &plot.frame.y_max}}) {
    if (double y = 0; const Node* n = map.find(key)) {
      if (read_number(*n, y, problems)) *limit = y;
    }
  }
  map.read("log_x", plot.frame.log_x);
}

}  // namespace

std::optional<std::size_t> read_point(const Node& node, const Experiment& e, Problems& problems) {
  double x = 0;
  if (!read_number(node, x, problems)) return {};
  const auto point = point_at(x, e);
  if (!point) problems.error(node.mark, no_point(x, e));
  return point;
}

std::optional<Expression> read_expression(const Node& node, const Experiment& e, Problems& problems) {
  const auto* text = config::text_of(node, "an expression like `mean(flows[f#*].ros)`", problems);
  if (!text) return {};
  try {
    Expression expression(*text, variant_names(e));
    for (const double x : expression.points()) {
      if (!point_at(x, e)) problems.error(node.mark, no_point(x, e));
    }
    return expression;
  } catch (const ExpressionError& error) {
    problems.error(node.mark, error.what());
    return {};
  }
}

void read_rows(const Node& node, Experiment& e, Problems& problems) {
  for (const Node* n : config::sequence(node, "rows, like `- {what: ..., value: ...}`", problems))
    read_row(*n, e, problems);
}

void read_plots(const Node& node, Experiment& e, Problems& problems) {
  for (const Node* n : config::sequence(node, "plots, like `- {title: ..., lines: ...}`", problems))
    read_plot(*n, e, problems);
}

}  // namespace surety::lab
