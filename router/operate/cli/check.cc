// SPDX-License-Identifier: BSD-3-Clause
#include "config/check.h"

#include <fmt/format.h>

#include <chrono>
#include <iostream>

#include "router/daemon/ports/eal.h"
#include "router/daemon/ports/memory_plan.h"
#include "router/daemon/refusals.h"
#include "router/daemon/time_of_day.h"
#include "router/operate/cli/commands.h"
#include "router/operate/generations/changes.h"

namespace surety {

namespace {

struct Request {
  std::vector<std::string> files;
  bool against_running = false;
  std::optional<std::string> router;
};

int compare(const std::string& file, const std::optional<std::string>& router) {
  const TelemetryClient client(runtime_directories(), std::chrono::seconds(60));  // large ones take a while
  return compare_with_running({.router = router, .file = file},
                              {client, unix_seconds(), std::cout, std::cerr});
}

// Prints the result of `check` for the file. 1: there are errors, or `run` would refuse it here.
int check_one(const std::string& file) {
  const config::Report report = config::check(file);
  std::cout << report.text;
  if (!report.config) return std::cout << report.sum, 1;
  std::cout << (report.text.empty() ? "" : "\n")
            << plan_memory(*report.config, count_workers(*report.config)).text() << '\n';
  const auto refused = refused_here(*report.config);
  if (refused.empty()) return std::cout << report.sum, 0;
  for (const std::string& why : refused)  // a line with a place of its own has it already
    std::cout << (why.find(": error: ") != why.npos ? why + "\n" : fmt::format("{}: error: {}\n", file, why));
  std::cout << fmt::format("{}: `surety run` refuses it on this machine\n", file);
  return 1;
}

int check_all(const Request& request) try {
  int status = 0;
  for (const auto& file : request.files) {
    const int wrong = check_one(file);
    status |= wrong == 0 && request.against_running ? compare(file, request.router) : wrong;
  }
  return status;
} catch (const std::exception& e) {
  std::cerr << "surety: " << e.what() << '\n';
  return 1;
}

}  // namespace

void add_check(CLI::App& app, Action& action) {
  const auto request = std::make_shared<Request>();
  auto* check = app.add_subcommand(
      "check",
      "Check configurations: every error with its place, and what `surety run` would refuse on this machine; "
      "exit status 0 or 1");
  check->add_option("file", request->files, "configurations, YAML")->required();
  auto* running = check->add_flag(
      "--against-running", request->against_running,
      "also what they would change in the running router; exit status 1 if it would refuse them");
  add_router(check, request->router)->needs(running);
  check->callback([&action, request] { action = [request] { return check_all(*request); }; });
}

}  // namespace surety
