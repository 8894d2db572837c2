// SPDX-License-Identifier: BSD-3-Clause
// Scenarios of a few words, and what the parser says about them.
#pragma once

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <string>
#include <vector>

#include "tests/lab/scenario/scenario.h"

namespace surety::lab {

// A small scenario that is right; tests replace the part they are about.
// One section on each line, the first in line 1.
struct ScenarioText {
  std::string duration = "duration: 10 s";
  std::string routers = "routers: {r: {ports: {a: {}, b: {}}}}";
  std::string hosts = "hosts: [h, s]";
  std::string links = "links: [{between: [h, r.a]}, {between: [r.b, s]}]";
  std::string senders = "senders: [{name: f, host: h, to: s, protocol: newreno}]";
  std::string text() const {
    return duration + "\n" + routers + "\n" + hosts + "\n" + links + "\n" + senders + "\nversion: 1\n";
  }
};

inline ScenarioResult result_of(const ScenarioText& s, const std::vector<Setting>& settings = {}) {
  return parse_scenario(s.text(), "dir/small.yaml", settings);
}

// "2:5 message", with "warning: " before the message of a warning; of a setting "path=value: message".
inline std::vector<std::string> messages_of(const ScenarioResult& result) {
  std::vector<std::string> out;
  for (const auto& d : result.diagnostics) {
    const auto* kind = d.severity == config::Diagnostic::Severity::warning ? "warning: " : "";
    const auto place = d.line > 0 ? fmt::format("{}:{}", d.line, d.column) : d.file.substr(6) + ":";
    out.push_back(fmt::format("{} {}{}", place, kind, d.message));
  }
  return out;
}
inline std::vector<std::string> messages(const ScenarioText& s, const std::vector<Setting>& settings = {}) {
  return messages_of(result_of(s, settings));
}

// The scenario; every diagnostic is a failure.
inline Scenario clean(const ScenarioText& s, const std::vector<Setting>& settings = {}) {
  auto result = result_of(s, settings);
  for (const auto& d : result.diagnostics) ADD_FAILURE() << d.format();
  return result.scenario.value_or(Scenario{});
}

}  // namespace surety::lab
