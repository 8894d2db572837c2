// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/run.h"

#include "router/operate/cli/commands.h"

namespace surety {

void add_run(CLI::App& app, Action& action) {
  const auto file = std::make_shared<std::string>();
  auto* run = app.add_subcommand("run", "Forward packets as the configuration says, until SIGTERM or SIGINT");
  run->add_option("file", *file, "configuration, YAML")->required();
  const auto take_over = std::make_shared<bool>();
  run->add_flag("--take-over", *take_over,
                "if a router of that name runs, start beside it, then take over its ports");
  run->callback(
      [&action, file, take_over] { action = [file, take_over] { return surety::run(*file, *take_over); }; });
}

}  // namespace surety
