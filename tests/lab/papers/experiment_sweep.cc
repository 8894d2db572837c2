// SPDX-License-Identifier: BSD-3-Clause
// `set` and `sweep`: settings of scenarios.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "tests/lab/papers/experiment_sections.h"
#include "tests/lab/scenario/node_json.h"

namespace surety::lab {
namespace {

using config::MapReader;
using config::Node;
using config::Problems;
using config::quote;

// Scalars as they stand; what is built of them as JSON, which is YAML on one line.
std::string yaml_of(const Node& node) {
  return node.kind == Node::Kind::scalar ? node.text : json_text(node);
}

// `200 kbit/s`: 200 and what follows.
struct Measured {
  double number = 0;
  std::string_view unit;
};
std::optional<Measured> measured(std::string_view text) {
  Measured m;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), m.number);
  if (error != std::errc{} || !std::isfinite(m.number)) return {};
  m.unit = text.substr(static_cast<std::size_t>(end - text.data()));
  return m;
}

std::vector<std::string> read_keys(MapReader& map, Problems& problems) {
  std::vector<std::string> keys;
  if (std::string key; map.read("key", key)) keys.push_back(key);
  if (const Node* n = map.find("keys")) {
    if (!keys.empty()) problems.error(n->mark, "`key` and `keys`: leave one of them out");
    for (const Node* item : config::sequence(*n, "paths of settings", problems)) {
      if (std::string key; read_value(*item, key, problems)) keys.push_back(key);
    }
  }
  return keys;
}

void read_sweep_value(const Node& value, const std::vector<std::string>& keys, SweepPoint& point,
                      Problems& problems) {
  if (value.kind == Node::Kind::scalar) point.text = value.text;
  if (!keys.empty()) {
    for (const auto& key : keys) point.settings.push_back({key, yaml_of(value)});
  } else if (value.kind == Node::Kind::map) {
    read_settings(value, point.settings, problems);
  } else {
    problems.error(value.mark, "expected a map of settings, as there is no `key`");
  }
}

// x from the values themselves, if they share a unit.
void default_x(const Node& values, std::vector<SweepPoint>& points, Problems& problems) {
  std::string_view unit;
  for (auto& p : points) {
    const auto m = measured(p.text);
    if (!m) return problems.error(values.mark, fmt::format("no number begins {}: give `x`", quote(p.text)));
    p.x = m->number;
    if (m->number == 0) continue;
    if (!unit.empty() && m->unit != unit)
      return problems.error(values.mark, "values in several units: give `x`");
    unit = m->unit;
  }
}

void read_x(const Node& node, std::vector<SweepPoint>& points, Problems& problems) {
  const auto x = read_numbers(node, problems);
  if (x.size() != points.size())
    return problems.error(node.mark, fmt::format("{} numbers for {} values", x.size(), points.size()));
  for (std::size_t i = 0; i < x.size(); ++i) points[i].x = x[i];
}

}  // namespace

std::optional<double> number_in(std::string_view text) {
  const auto m = measured(text);
  return m && m->unit.empty() ? std::optional(m->number) : std::nullopt;
}

bool read_number(const Node& node, double& out, Problems& problems) {
  const auto number = node.kind == Node::Kind::scalar ? number_in(node.text) : std::nullopt;
  if (!number) problems.error(node.mark, "expected a number");
  out = number.value_or(out);
  return number.has_value();
}

std::vector<double> read_numbers(const Node& node, Problems& problems) {
  std::vector<double> out;
  for (const Node* item : config::sequence(node, "numbers", problems)) {
    if (double x = 0; read_number(*item, x, problems)) out.push_back(x);
  }
  return out;
}

void read_settings(const Node& node, std::vector<Setting>& out, Problems& problems) {
  MapReader map(node, "settings", problems);
  map.ignore_the_rest();
  for (const auto& [key, value] : node.entries) out.push_back({key->text, yaml_of(*value)});
}

void read_sweep(const Node& node, Experiment& e, Problems& problems) {
  MapReader map(node, "a sweep", problems);
  const auto keys = read_keys(map, problems);
  e.sweep_label = keys.empty() ? "point" : keys.front();
  map.read("label", e.sweep_label);
  const Node* values = map.require("values");
  const Node* x = map.find("x");
  if (!values) return;
  e.points.clear();
  for (const Node* v : config::sequence(*values, "values", problems))
    read_sweep_value(*v, keys, e.points.emplace_back(), problems);
  e.swept = !e.points.empty();
  if (!e.swept) {
    e.points.emplace_back();
    return problems.error(values->mark, "a sweep over nothing");
  }
  x ? read_x(*x, e.points, problems) : default_x(*values, e.points, problems);
  for (std::size_t i = 0; i < e.points.size() && !problems.any_error(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (e.points[i].x == e.points[j].x)
        problems.error((x ? x : values)->mark,
                       fmt::format("two points at {}: give each an `x`", e.points[i].x));
    }
  }
}

}  // namespace surety::lab
