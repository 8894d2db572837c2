// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/papers/expression_path.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <limits>

#include "conditioners/drop_reason.h"
#include "config/problems.h"
#include "config/suggest.h"
#include "router/signals/congestion_signal.h"
#include "tests/lab/results/result_json.h"

namespace surety::lab {
namespace {

using Json = nlohmann::ordered_json;
using config::quote;
using Nodes = std::vector<const Json*>;

constexpr double kNull = std::numeric_limits<double>::quiet_NaN();

bool is_pattern(const std::string& text) {
  return text.find_first_of("*?") != text.npos;
}
bool matches(const std::string& pattern, const std::string& name) {
  return fnmatch(pattern.c_str(), name.c_str(), FNM_NOESCAPE) == 0;
}

std::string label_of(const Json& item) {
  if (!item.contains("queue")) return item.value("name", "");
  return fmt::format("{}/{}/{}", item.value("router", ""), item.value("port", ""), item.value("queue", ""));
}

[[noreturn]] void no_match(std::string_view what, std::vector<std::string> there) {
  const std::vector<std::string_view> names(there.begin(), there.end());
  throw ValueError(fmt::format("nothing is called {}{}", quote(what), config::hint(what, names)));
}

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

void select(const Json& from, const std::string& pattern, Nodes& out) {
  const auto before = out.size();
  std::vector<std::string> names;
  for (const auto& [key, value] : from.items()) {
    names.push_back(from.is_array() ? label_of(value) : key);
    if (matches(pattern, names.back())) out.push_back(&value);
  }
  if (out.size() == before) no_match(pattern, std::move(names));
}

constexpr std::array kBesideReasons{"lost"};  // of links, beside the reasons of routers
constexpr std::array kBesideResults{"sent", "limited", "unsent", "lost"};

bool is_one_of(const std::string& pattern, const auto& names, const auto& infos) {
  return std::any_of(names.begin(), names.end(), [&](const char* n) { return matches(pattern, n); }) ||
         std::any_of(infos.begin(), infos.end(),
                     [&](const auto& i) { return matches(pattern, std::string(i.name)); });
}

// Drops and signals by router and name.
bool is_count(const Path& path) {
  return path.steps[0].text == "drops" || path.steps[0].text == "signals";
}
// Those that did not occur are left out of the tree, but are no less known.
bool is_zero(const Path& path, std::size_t step) {
  const std::string& name = path.steps[step].text;
  if (!is_count(path) || step != 2) return false;
  return path.steps[0].text == "drops" ? is_one_of(name, kBesideReasons, kDropReasonInfo)
                                       : is_one_of(name, kBesideResults, kSignalResultInfo);
}

// Where a step of the path leads from a node.
void follow(const Path& path, std::size_t step, const Json& node, Nodes& out) {
  static const Json zero = 0;
  const std::string& text = path.steps[step].text;
  const bool selects = path.steps[step].selects;
  if (!node.is_structured() || (node.is_array() && !selects))
    throw ValueError(fmt::format("nothing is inside that would be called {}", quote(text)));
  const auto keys = keys_of(node);
  if (is_zero(path, step) &&
      std::none_of(keys.begin(), keys.end(), [&](const auto& key) { return matches(text, key); })) {
    out.push_back(&zero);
  } else if (selects) {
    select(node, text, out);
  } else if (const auto it = node.find(text); it != node.end()) {
    out.push_back(&*it);
  } else {
    no_match(text, keys);
  }
}

Nodes walk(const Path& path, const Json& tree) {
  Nodes here{&tree};
  for (std::size_t step = 0; step < path.steps.size(); ++step) {
    Nodes next;
    for (const Json* node : here) follow(path, step, *node, next);
    here = std::move(next);
  }
  return here;
}

double number_of(const Path& path, const Json& node) {
  if (node.is_null()) return kNull;
  if (!node.is_number()) throw ValueError(fmt::format("{} is not a number", quote(path.text)));
  return node.get<double>();
}

bool is_list(const Path& path, const Nodes& nodes) {
  return nodes.size() != 1 || std::any_of(path.steps.begin(), path.steps.end(),
                                          [](const PathStep& s) { return s.selects && is_pattern(s.text); });
}

// One of everything, to see which paths there are.
Json specimen() {
  RunResult run;
  run.flows.emplace_back();
  run.queues.emplace_back();
  run.domains.emplace_back();
  run.aggregates.emplace_back();
  run.drops[""];
  run.signals[""];
  return tree_of(run);
}

}  // namespace

Json tree_of(const RunResult& run) {
  Json tree = to_json(run);
  tree["sample_s"] = run.sample_s;
  for (std::size_t i = 0; i < run.flows.size(); ++i) {
    auto& flow = tree["flows"][i];
    flow["throughput_series"] = run.flows[i].throughput_series;
    flow["in_series"] = run.flows[i].in_series;
    flow["control_series"] = run.flows[i].control_series;
    flow["delay_series"] = run.flows[i].delay_series;
    flow["contract_series"] = run.flows[i].contract_series;
  }
  for (std::size_t i = 0; i < run.queues.size(); ++i) {
    tree["queues"][i]["average_in_series"] = run.queues[i].average_in_series;
    tree["queues"][i]["average_total_series"] = run.queues[i].average_total_series;
  }
  for (std::size_t i = 0; i < run.domains.size(); ++i)
    tree["domains"][i]["alpha_series"] = run.domains[i].alpha_series;
  for (std::size_t i = 0; i < run.aggregates.size(); ++i)
    tree["aggregates"][i]["tpr_series"] = run.aggregates[i].tpr_series;
  return tree;
}

void check_path(const Path& path) {
  static const Json tree = specimen();
  Path any = path;
  for (std::size_t i = 0; i < any.steps.size(); ++i) {
    const bool router = i == 1 && is_count(any);
    if (any.steps[i].selects || router) any.steps[i] = {i == 2 ? any.steps[i].text : "*", true};
  }
  for (const Json* node : walk(any, tree)) {
    if (node->is_object() || (node->is_array() && !path.steps.back().text.ends_with("_series")))
      throw ValueError(fmt::format("{} is not a number; it holds: {}", quote(path.text),
                                   fmt::join(keys_of(node->is_array() ? node->front() : *node), ", ")));
    if (node->is_string()) throw ValueError(fmt::format("{} is not a number", quote(path.text)));
  }
}

Value look_up(const Path& path, const Json& tree) {
  const Nodes nodes = walk(path, tree);
  Value out{is_list(path, nodes), {}};
  if (nodes.size() == 1 && nodes[0]->is_array()) {
    out.list = true;
    out.sample_s = tree["sample_s"];
    for (const Json& item : *nodes[0]) out.items.push_back(number_of(path, item));
    return out;
  }
  for (const Json* node : nodes) {
    if (node->is_array()) throw ValueError(fmt::format("{} is several series; name one", quote(path.text)));
    out.items.push_back(number_of(path, *node));
  }
  return out;
}

}  // namespace surety::lab
