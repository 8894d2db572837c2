// SPDX-License-Identifier: BSD-3-Clause
// The program `surety`: one command line for running, checking, watching and measuring the router.
#include "router/operate/cli/commands.h"
#include "router/process/command_line.h"

int main(int argc, char** argv) {
  CLI::App app;
  surety::Action action;
  surety::add_commands(app, action);
  if (const auto status = surety::answer_programs(app, argc, argv, surety::values_now)) return *status;
  CLI11_PARSE(app, argc, argv);
  return action();
}
