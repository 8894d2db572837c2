// SPDX-License-Identifier: BSD-3-Clause
#include <iostream>

#include "config/check.h"
#include "router/cli/commands.h"

namespace surety {

namespace {

int diff_files(const std::string& before, const std::string& after) {
  std::string report;
  const int status = config::diff(before, after, report);
  (status == 2 ? std::cerr : std::cout) << report;
  return status;
}

}  // namespace

void add_diff(CLI::App& app, Action& action) {
  const auto files = std::make_shared<std::vector<std::string>>();
  auto* diff = app.add_subcommand(
      "diff", "How two configurations differ, what that takes and whom it concerns; exit status 0, 1 or 2");
  diff->add_option("file", *files, "the old one and the new one, YAML")->required()->expected(2);
  diff->callback([&action, files] { action = [files] { return diff_files(files->at(0), files->at(1)); }; });
}

}  // namespace surety
