// SPDX-License-Identifier: BSD-3-Clause
// A scenario in a test's hands: parsed from YAML, run with a pool that all tests of the program share.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/lab/simulation/plan.h"
#include "tests/lab/simulation/simulation.h"

namespace surety::lab::test {

inline PacketPool& pool() {
  static PacketPool pool(20'000);
  return pool;
}

inline Scenario scenario(std::string_view yaml, std::initializer_list<Setting> settings = {}) {
  auto result = parse_scenario(yaml, "test.yaml", {settings.begin(), settings.size()});
  std::string errors;
  for (const auto& d : result.diagnostics)
    if (d.severity == config::Diagnostic::Severity::error) errors += d.format();
  if (!result.ok()) throw std::runtime_error(errors);
  return std::move(*result.scenario);
}

inline RunResult run_once(std::string_view yaml, std::uint64_t seed = 1,
                          std::initializer_list<Setting> settings = {}) {
  const auto plan = make_plan(scenario(yaml, settings));
  RunOptions options;
  options.seed = seed;
  return run(*plan, pool(), options);
}

inline const FlowResult& flow(const RunResult& r, std::string_view name) {
  for (const auto& f : r.flows)
    if (f.name == name) return f;
  throw std::out_of_range(std::string(name));
}

}  // namespace surety::lab::test
