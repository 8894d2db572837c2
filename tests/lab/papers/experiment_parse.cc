// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "tests/lab/papers/experiment_sections.h"

namespace surety::lab {
namespace {

using config::Document;
using config::MapReader;
using config::Node;
using config::Problems;
using config::quote;

constexpr std::size_t kMaxSeeds = 10'000;

// `seeds: 5`, or `seeds: {full: 20, quick: 3}`.
void read_seeds(const Node& node, Seeds& seeds, Problems& problems) {
  if (node.kind != Node::Kind::map) {
    if (config::read_integer(&node, 1, kMaxSeeds, seeds.full, problems)) seeds.quick = seeds.full;
    return;
  }
  MapReader map(node, "`seeds`", problems);
  config::read_integer(map.find("full"), 1, kMaxSeeds, seeds.full, problems);
  config::read_integer(map.find("quick"), 1, kMaxSeeds, seeds.quick, problems);
}

// It begins a path, where `-` would be a minus.
bool is_identifier(std::string_view s) {
  return !s.empty() && !std::isdigit(static_cast<unsigned char>(s.front())) &&
         std::all_of(s.begin(), s.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
}

void read_variants(const Node& node, Experiment& e, Problems& problems) {
  const Variant common = std::move(e.variants.front());
  e.variants.clear();
  config::for_each_named(
      node, "variant", problems, [&](const std::string& name, const Node& key, const Node& value) {
        if (!is_identifier(name))
          problems.error(
              key.mark,
              fmt::format("{} cannot name a variant: letters, digits and `_`, a letter first", quote(name)));
        Variant& v = e.variants.emplace_back(common);
        v.name = name;
        MapReader map(value, "a variant", problems);
        map.read("scenario", v.scenario);
        if (const Node* n = map.find("set")) read_settings(*n, v.settings, problems);
        if (v.scenario.empty())
          problems.error(value.mark, "no `scenario`, neither here nor in the experiment");
      });
  if (!e.variants.empty()) return;
  if (node.kind == Node::Kind::map) problems.error(node.mark, "`variants` without any");
  e.variants.push_back(common);
}

void read_quick(const Node& node, Experiment& e, Problems& problems) {
  MapReader map(node, "`quick`", problems);
  if (const Node* n = map.find("set")) read_settings(*n, e.quick_settings, problems);
}

void read_experiment(const Node& node, const Seeds& seeds, Paper& paper, Problems& problems) {
  Experiment& e = paper.experiments.emplace_back();
  MapReader map(node, "an experiment", problems);
  if (map.required("id", e.id) && !config::is_name(e.id))
    problems.error(
        map.at("id"),
        fmt::format("{} cannot name an experiment: letters, digits, `-`, `_` and `.`", quote(e.id)));
  map.required("title", e.title);
  e.variants.emplace_back();
  map.read("scenario", e.variants.front().scenario);
  if (const Node* n = map.find("set")) read_settings(*n, e.variants.front().settings, problems);
  if (const Node* n = map.find("variants")) {
    read_variants(*n, e, problems);
  } else {
    map.require("scenario");
  }
  e.points.emplace_back();
  if (const Node* n = map.find("sweep")) read_sweep(*n, e, problems);
  e.seeds = seeds;
  if (const Node* n = map.find("seeds")) read_seeds(*n, e.seeds, problems);
  if (const Node* n = map.find("quick")) read_quick(*n, e, problems);
  map.read_word("only", e.only_full, {{"full", true}});
  if (const Node* n = map.find("rows")) read_rows(*n, e, problems);
  if (const Node* n = map.find("plots")) read_plots(*n, e, problems);
  if (e.rows.empty() && e.plots.empty() && !problems.any_error())
    problems.error(node.mark, "neither `rows` nor `plots`: nothing to look at");
}

void check_ids(const MapReader& map, const Paper& paper, Problems& problems) {
  std::set<std::string> ids;
  for (const auto& e : paper.experiments) {
    if (!e.id.empty() && !ids.insert(e.id).second)
      problems.error(map.at("experiments"), fmt::format("two experiments are called {}", quote(e.id)));
  }
}

void read_paper(const Node& root, Paper& paper, Problems& problems) {
  MapReader map(root, "a paper", problems);
  if (const Node* n = map.require("version")) {
    const auto* text = config::text_of(*n, "`version: 1`", problems);
    if (text && *text != "1")
      problems.error(n->mark,
                     fmt::format("version {} is not known; this program reads version 1", quote(*text)));
  }
  map.required("paper", paper.name);
  map.required("title", paper.title);
  Seeds seeds;
  if (const Node* n = map.find("seeds")) read_seeds(*n, seeds, problems);
  if (const Node* n = map.require("experiments")) {
    for (const Node* item : config::sequence(*n, "experiments, like `- {id: fig2, ...}`", problems))
      read_experiment(*item, seeds, paper, problems);
  }
  check_ids(map, paper, problems);
}

}  // namespace

std::vector<std::string> variant_names(const Experiment& e) {
  std::vector<std::string> names;
  for (const auto& v : e.variants) {
    if (!v.name.empty()) names.push_back(v.name);
  }
  return names;
}

std::vector<Setting> Experiment::settings_of(std::size_t variant, std::size_t point, bool quick) const {
  auto all = variants.at(variant).settings;
  const auto add = [&](const std::vector<Setting>& more) { all.insert(all.end(), more.begin(), more.end()); };
  add(points.at(point).settings);
  if (quick) add(quick_settings);
  return all;
}

PaperResult parse_paper(std::string_view text, const std::string& file_name) {
  Problems problems;
  PaperResult result;
  Paper paper;
  const Document document(text);
  if (document.root()) {
    read_paper(*document.root(), paper, problems);
  } else {
    problems.error(document.error_mark(), document.error());
  }
  if (!problems.any_error()) result.paper = std::move(paper);
  result.diagnostics = problems.take(text, file_name);
  return result;
}

}  // namespace surety::lab
