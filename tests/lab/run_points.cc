// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/run_points.h"

#include <fmt/format.h>

#include <set>

#include "config/text/problems.h"
#include "tests/lab/simulation/simulation.h"

namespace surety::lab {

std::optional<std::vector<Point>> load_points(const RunCommand& command, std::ostream& errors) {
  std::vector<Point> loaded;
  std::set<std::string> shown;
  bool good = true;
  for (const auto& swept : command.points) {
    auto settings = command.settings;
    settings.insert(settings.end(), swept.begin(), swept.end());
    auto result = parse_scenario_file(command.file, settings);
    for (const auto& d : result.diagnostics)
      if (const auto text = d.format(); shown.insert(text).second) errors << text;
    good = good && result.ok();
    if (good) loaded.push_back({swept, std::move(*result.scenario)});
  }
  if (!good) return {};
  return loaded;
}

std::size_t find_link(const Scenario& scenario, const std::string& name) {
  const auto blank = name.find(' ');
  const std::string turned = blank == name.npos ? name : name.substr(blank + 1) + ' ' + name.substr(0, blank);
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < scenario.links.size(); ++i) {
    names.push_back(scenario.links[i].name);
    if (names.back() == name || names.back() == turned) return i;
  }
  throw ScenarioError(fmt::format("no link `{}`{}", name, config::hint(name, names)));
}

}  // namespace surety::lab
