// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/generations/changes.h"

#include <iostream>

#include "config/check.h"
#include "config/text/quantity.h"
#include "router/daemon/time_of_day.h"
#include "router/daemon/upgrade.h"
#include "router/operate/cli/commands.h"

namespace surety {

namespace {

using Command = int (*)(const ChangeRequest&, const ChangeContext&);

struct Asked {
  ChangeRequest request;
  std::string confirm, router, file, state, to;
  int generation = 0;
};

int carry_out(const Asked& asked, Command command) {
  ChangeRequest request = asked.request;
  request.file = asked.file;
  request.state = asked.state;
  request.to = asked.to;
  if (!asked.router.empty()) request.router = asked.router;
  if (asked.generation != 0) request.generation = asked.generation;
  if (!asked.confirm.empty()) {
    const auto time = config::parse_time(asked.confirm);
    if (!time.value || *time.value < std::chrono::seconds(1) || *time.value > std::chrono::hours(24)) {
      std::cerr << "surety: --confirm " << asked.confirm << ": a time like `90s` or `5 min`, up to 24 h\n";
      return 2;
    }
    request.confirm = std::chrono::duration_cast<std::chrono::seconds>(*time.value);
  }
  // A million routes are read, compared and taken over within a few seconds.
  const TelemetryClient client(runtime_directories(), std::chrono::seconds(60));
  return command(request, {client, unix_seconds(), std::cout, std::cerr});
}

int diff_files(const std::string& before, const std::string& after) {
  std::string report;
  const int status = config::diff(before, after, report);
  (status == 2 ? std::cerr : std::cout) << report;
  return status;
}

// `asked`: gets the words of the new command.
CLI::App* add(CLI::App& app, Action& action, std::shared_ptr<Asked>& asked, const char* name,
              const char* help, Command command) {
  asked = std::make_shared<Asked>();
  auto* added = app.add_subcommand(name, help);
  added->add_option("--state", asked->state,
                    "state directory, for routers that do not run; default: /var/lib/surety");
  added->callback(
      [&action, asked, command] { action = [asked, command] { return carry_out(*asked, command); }; });
  return added;
}

void add_how(CLI::App* command, Asked& asked) {
  command->add_option("--confirm", asked.confirm,
                      "a time like `5 min`: the router returns to its previous configuration unless you run "
                      "`surety confirm` by then");
  command->add_option("--why", asked.request.why, "reason, for the history");
  command->add_flag("--at-next-start", asked.request.at_next_start,
                    "if a change needs a restart, install the configuration for the next start");
  add_router(command, asked.router);
}

}  // namespace

void add_changes(CLI::App& app, Action& action) {
  std::shared_ptr<Asked> asked;
  auto* command = add(app, action, asked, "diff",
                      "Compare a configuration with the running one, or with another: each change, what it "
                      "takes and whom it concerns; exit status 0, 1 or 2",
                      diff);
  command->add_option("file", asked->file, "configuration, YAML; with NEW, the old one")->required();
  command->add_option("new", asked->to, "the new one; no router is needed");
  command->callback([&action, asked] {
    action = [asked] {
      return asked->to.empty() ? carry_out(*asked, diff) : diff_files(asked->file, asked->to);
    };
  });
  command->add_flag("--json", asked->request.json, "for programs");
  add_router(command, asked->router);

  command = add(app, action, asked, "apply", "Apply a configuration to a router, now and for its next start",
                apply);
  command->add_option("file", asked->file, "configuration, YAML")->required();
  command->add_option("--to", asked->to,
                      "file to install for a router that has never run; default: /etc/surety/NAME.yaml");
  add_how(command, *asked);

  command =
      add(app, action, asked, "confirm", "Keep the configuration that was applied with --confirm", confirm);
  add_router(command, asked->router);

  command = add(app, action, asked, "rollback",
                "End a trial; without one, return to the previous or the given generation", rollback);
  command->add_option("generation", asked->generation, "a number from `surety history`")
      ->check(CLI::PositiveNumber);
  add_how(command, *asked);

  command = add(app, action, asked, "history",
                "List the configurations that were in effect: when, who, what and why", history);
  command->add_flag("--json", asked->request.json, "for programs");
  add_router(command, asked->router);

  command = add(app, action, asked, "reload",
                "Reload the configuration file of a router, as SIGHUP does, and wait for the result", reload);
  add_router(command, asked->router, "name");
  command->callback([&action, asked] {
    action = [asked] {
      const auto name = asked->router.empty() ? std::nullopt : std::optional(asked->router);
      if (const auto upgraded = upgrade_instead_of_reload(name)) return *upgraded;
      return carry_out(*asked, reload);
    };
  });
}

}  // namespace surety
