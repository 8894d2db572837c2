// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/upgrade.h"

#include "router/operate/cli/commands.h"

namespace surety {

void add_upgrade(CLI::App& app, Action& action) {
  const auto name = std::make_shared<std::optional<std::string>>();
  auto* upgrade = app.add_subcommand(
      "upgrade", "Start the installed program beside a running router, then take over its ports");
  upgrade->add_option("name", *name, "the router's name; default: the only one that runs");
  upgrade->callback([&action, name] { action = [name] { return surety::upgrade(*name); }; });
}

}  // namespace surety
