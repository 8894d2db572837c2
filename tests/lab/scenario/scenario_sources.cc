// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/scenario/scenario_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "config/sections.h"
#include "config/values.h"
#include "tests/lab/scenario/setting_editor.h"

namespace surety::lab {

Sources::Sources(std::string text, const std::string& file, std::span<const Setting> settings)
    : scenario(file, std::move(text)),
      settings_(settings),
      directory_(std::filesystem::path(file).parent_path().string()) {
  if (!scenario.root) {
    scenario.problems.error(scenario.document.error_mark(), scenario.document.error());
    return;
  }
  // Lines below 1 are in no file; these sort in the order of the settings.
  int line = -static_cast<int>(settings.size());
  for (const auto& s : settings) SettingEditor(*this, s, line++).apply();
}

SourceTree* Sources::router_file(const std::string& router, const Node& config) {
  std::string file;
  if (!config::read_value(config, file, scenario.problems)) return nullptr;
  if (!file.starts_with('/') && !directory_.empty()) file = directory_ + "/" + file;
  if (const auto it = router_files_.find({router, file}); it != router_files_.end()) return &it->second;
  config::Problems problems;
  auto text = config::read_yaml(file, problems);
  if (!text) {
    scenario.problems.error(
        config.mark, fmt::format("{} {}", config::quote(file), problems.take({}, file).front().message));
    return nullptr;
  }
  const auto [it, fresh] = router_files_.try_emplace({router, file}, file, std::move(*text));
  return &it->second;
}

std::vector<config::Diagnostic> Sources::take_diagnostics() {
  auto all = scenario.problems.take(scenario.text, scenario.file);
  for (auto& [key, tree] : router_files_) {
    auto more = tree.problems.take(tree.text, tree.file);
    std::move(more.begin(), more.end(), std::back_inserter(all));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return std::min(a.line, 1) < std::min(b.line, 1); });
  for (auto& d : all) {
    if (d.line >= 1) break;
    const auto& s = settings_[settings_.size() - static_cast<std::size_t>(-d.line)];
    d.file = fmt::format("--set {}={}", s.path, s.value);
    d.line = d.column = 0;
  }
  return all;
}

}  // namespace surety::lab
