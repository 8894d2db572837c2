// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/cli/commands.h"

#include "router/process/version.h"

namespace surety {

void add_commands(CLI::App& app, Action& action) {
  app.description("Surety: an edge and core router that keeps promised rates");
  app.set_version_flag("--version", kVersion);
  app.require_subcommand(1);
  for (const auto add : {add_run, add_check, add_changes, add_show, add_report, add_explain, add_capture,
                         add_setup, add_doctor, add_upgrade, add_bench})
    add(app, action);
}

}  // namespace surety
