// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/command_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "tests/lab/simulation/simulation.h"

namespace surety::lab {

namespace {

std::string counted(std::size_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

std::string contents(const Scenario& s) {
  return fmt::format("{}, {}, {}, {}", counted(s.routers.size(), "router"), counted(s.hosts.size(), "host"),
                     counted(s.links.size(), "link"), counted(s.senders.size(), "sender"));
}

bool check(const std::string& file) {
  auto result = parse_scenario_file(file);
  for (const auto& d : result.diagnostics) std::cout << d.format();
  const auto errors = static_cast<std::size_t>(std::ranges::count(
      result.diagnostics, config::Diagnostic::Severity::error, &config::Diagnostic::severity));
  if (!result.ok()) {
    std::cout << fmt::format("{}: {}\n", file, counted(errors, "error"));
    return false;
  }
  const std::string sum = contents(*result.scenario);
  try {
    make_plan(std::move(*result.scenario));
  } catch (const ScenarioError& e) {
    std::cout << fmt::format("{}: error: {}\n{}: 1 error\n", file, e.what(), file);
    return false;
  }
  std::cout << fmt::format("{}: ok: {}\n", file, sum);
  return true;
}

}  // namespace

int command_check(const std::vector<std::string>& files) {
  try {
    start_dpdk();
    bool good = true;
    for (const auto& file : files) good = check(file) && good;
    return good ? 0 : 1;
  } catch (const DpdkError& e) {
    std::cerr << "surety-lab: " << e.what() << '\n';
    return 1;
  }
}

}  // namespace surety::lab
