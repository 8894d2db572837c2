// SPDX-License-Identifier: BSD-3-Clause
// The program `surety`: one command line for running, checking, watching and measuring the router.
#include "router/cli/commands.h"

int main(int argc, char** argv) {
  CLI::App app;
  surety::Action action;
  surety::add_commands(app, action);
  CLI11_PARSE(app, argc, argv);
  return action();
}
