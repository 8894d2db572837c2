// SPDX-License-Identifier: BSD-3-Clause
// The command line of `surety`: one file for each command, which says what its words are and what they do.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace surety {

// What the words of a command line ask for, once all of them are understood; gives the exit status.
using Action = std::function<int()>;

// Each adds its command to `app`; where a command line has it, parsing sets `action`. Options live as long as
// `app` does.
void add_run(CLI::App& app, Action& action);
void add_check(CLI::App& app, Action& action);
void add_changes(CLI::App& app, Action& action);  // diff, apply, confirm, rollback, history, reload
void add_show(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_explain(CLI::App& app, Action& action);
void add_capture(CLI::App& app, Action& action);
void add_upgrade(CLI::App& app, Action& action);
void add_setup(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);

// All of them, in the order that help shows.
void add_commands(CLI::App& app, Action& action);

}  // namespace surety
