// SPDX-License-Identifier: BSD-3-Clause
// The command line of `surety`: its commands, each with its words and their action.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "router/process/command_line.h"

namespace surety {

// The action of a parsed command line; returns the exit status.
using Action = std::function<int()>;

// Each adds its command to `app`; if the command line has it, parsing sets `action`. Options live as long as
// `app`.
void add_run(CLI::App& app, Action& action);
void add_check(CLI::App& app, Action& action);
void add_changes(CLI::App& app, Action& action);  // diff, apply, confirm, rollback, history, reload
void add_subscribers(CLI::App& app, Action& action);
void add_show(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_explain(CLI::App& app, Action& action);
void add_capture(CLI::App& app, Action& action);
void add_upgrade(CLI::App& app, Action& action);
void add_setup(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);

// Adds `--name`, or another option, that selects a router.
template <class Router>
CLI::Option* add_router(CLI::App* command, Router& router, const char* option = "--name") {
  return command->add_option(option, router, "the router's name; default: the only one that runs");
}

// All commands, in the order of the help.
void add_commands(CLI::App& app, Action& action);

// Values of a command line's word that depend on running routers: their names, and the customers, ports,
// queues and so on of the selected one. Takes at most 200 ms: values not known by then are left out, and the
// program ends.
std::optional<std::vector<std::string>> values_now(const Unknown& unknown);

}  // namespace surety
