// SPDX-License-Identifier: BSD-3-Clause
#include "config/check.h"

#include <iostream>

#include "router/cli/commands.h"

namespace surety {

namespace {

int check_all(const std::vector<std::string>& files) {
  int status = 0;
  for (const auto& file : files) {
    std::string report;
    status |= config::check(file, report);
    std::cout << report;
  }
  return status;
}

}  // namespace

void add_check(CLI::App& app, Action& action) {
  const auto files = std::make_shared<std::vector<std::string>>();
  auto* check =
      app.add_subcommand("check", "Check configurations: every error with its place; exit status 0 or 1");
  check->add_option("file", *files, "configurations, YAML")->required();
  check->callback([&action, files] { action = [files] { return check_all(*files); }; });
}

}  // namespace surety
