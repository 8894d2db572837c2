// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "config/text/problems.h"
#include "tests/lab/scenario/scenario_sections.h"

namespace surety::lab {
namespace {

constexpr std::uint64_t kMaxSeed = 999'999'999'999'999'999;  // as in an endpoint's file
constexpr Duration kMinSample = std::chrono::milliseconds(10);

void read_name(config::MapReader& map, ScenarioDraft& draft) {
  auto& name = draft.scenario.name;
  name = std::filesystem::path(draft.scenario.file).stem().string();
  if (map.read("name", name) && !config::is_name(name))
    draft.problems.error(map.at("name"),
                         fmt::format("{} cannot name a scenario: up to 63 letters, digits, `-`, `_` and `.`",
                                     config::quote(name)));
}

void read_measure(const Node& node, ScenarioDraft& draft) {
  auto& s = draft.scenario;
  config::TimeRange range;
  if (!config::read_time_range(node, range, draft.problems)) return;
  if (range.to <= range.from) {
    draft.problems.error(node.mark, "a stretch of time to measure, like `100 s - 200 s`");
  } else if (range.from >= s.duration) {
    draft.problems.error(node.mark, "the run is over before the measurement begins");
  } else {
    if (range.to > s.duration)
      draft.problems.warning(node.mark, "the run is over before the measurement; it ends with the run");
    s.measure = {range.from, std::min(range.to, s.duration)};
  }
}

void read_times(config::MapReader& map, ScenarioDraft& draft) {
  auto& s = draft.scenario;
  const bool known = map.required("duration", s.duration);
  if (known && s.duration < kMinSample) draft.problems.error(map.at("duration"), "at least 10 ms");
  s.measure = {{}, s.duration};
  const Node* measure = map.find("measure");
  if (known && measure) read_measure(*measure, draft);
  if (known) s.sample = std::min(s.sample, s.duration);
  if (map.read("sample", s.sample) && known && (s.sample < kMinSample || s.sample > s.duration))
    draft.problems.error(map.at("sample"), "from 10 ms to the whole duration");
}

void read_all(const Node& root, ScenarioDraft& draft) {
  config::MapReader map(root, "the scenario", draft.problems);
  config::read_version(map, draft.problems);
  read_name(map, draft);
  read_times(map, draft);
  config::read_integer(map.find("seed"), 0, kMaxSeed, draft.scenario.seed, draft.problems);
  if (const Node* n = map.find("routers")) read_routers(*n, draft);
  if (const Node* n = map.require("hosts")) read_hosts(*n, draft);
  const Node* links = map.require("links");
  if (links) read_links(*links, draft);
  if (links) check_links(draft);
  if (const Node* n = map.require("senders")) read_lab_senders(*n, draft);
  if (const Node* n = map.find("routes")) read_route_changes(*n, draft);
  size_flow_tables(draft);
}

bool any_error(const std::vector<config::Diagnostic>& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const auto& d) { return d.severity == config::Diagnostic::Severity::error; });
}

}  // namespace

std::string no_such(std::string_view noun, std::string_view name, const std::vector<std::string>& names) {
  const std::vector<std::string_view> views(names.begin(), names.end());
  return fmt::format("there is no {} {}{}", noun, config::quote(name), config::hint(name, views));
}

ScenarioResult parse_scenario(std::string_view text, const std::string& file_name,
                              std::span<const Setting> settings) {
  Sources sources(std::string(text), file_name, settings);
  ScenarioDraft draft(sources);
  draft.scenario.file = file_name;
  if (sources.scenario.root) read_all(*sources.scenario.root, draft);
  ScenarioResult result;
  result.diagnostics = sources.take_diagnostics();
  if (!any_error(result.diagnostics)) result.scenario = std::move(draft.scenario);
  return result;
}

ScenarioResult parse_scenario_file(const std::string& path, std::span<const Setting> settings) {
  config::Problems problems;
  const auto text = config::read_yaml(path, problems);
  if (!text) return {{}, problems.take({}, path)};
  return parse_scenario(*text, path, settings);
}

}  // namespace surety::lab
