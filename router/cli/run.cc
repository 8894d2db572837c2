// SPDX-License-Identifier: BSD-3-Clause
#include "router/dpdk/run.h"

#include "router/cli/commands.h"

namespace surety {

void add_run(CLI::App& app, Action& action) {
  const auto file = std::make_shared<std::string>();
  auto* run = app.add_subcommand("run", "Forward packets as the configuration says, until SIGTERM or SIGINT");
  run->add_option("file", *file, "configuration, YAML")->required();
  run->callback([&action, file] { action = [file] { return surety::run(*file); }; });
}

}  // namespace surety
