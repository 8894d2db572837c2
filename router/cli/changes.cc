// SPDX-License-Identifier: BSD-3-Clause
#include "router/generations/changes.h"

#include <iostream>

#include "config/check.h"
#include "config/text/quantity.h"
#include "router/cli/commands.h"
#include "router/dpdk/time_of_day.h"
#include "router/dpdk/upgrade.h"

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

CLI::App* add(CLI::App& app, Action& action, const std::shared_ptr<Asked>& asked, const char* name,
              const char* help, Command command) {
  auto* added = app.add_subcommand(name, help);
  added->add_option("--state", asked->state, "where routers that do not run keep it: /var/lib/surety");
  added->callback(
      [&action, asked, command] { action = [asked, command] { return carry_out(*asked, command); }; });
  return added;
}

void add_name(CLI::App* command, Asked& asked) {
  command->add_option("--name", asked.router, "the router's name; default: the only one that runs");
}

void add_how(CLI::App* command, Asked& asked) {
  command->add_option("--confirm", asked.confirm,
                      "a time, like `5 min`: the router goes back by itself unless `surety confirm` comes");
  command->add_option("--why", asked.request.why, "for the history");
  command->add_flag("--at-next-start", asked.request.at_next_start,
                    "what cannot change while the router runs is installed for its next start");
  add_name(command, asked);
}

}  // namespace

void add_changes(CLI::App& app, Action& action) {
  auto asked = std::make_shared<Asked>();
  auto* command =
      add(app, action, asked, "diff",
          "How a configuration differs from what runs, or from another one, what that takes and whom it "
          "concerns; exit status 0, 1 or 2",
          diff);
  command->add_option("file", asked->file, "configuration, YAML; of two the old one")->required();
  command->add_option("new", asked->to, "the new one: nothing is asked of a router");
  command->callback([&action, asked] {
    action = [asked] {
      return asked->to.empty() ? carry_out(*asked, diff) : diff_files(asked->file, asked->to);
    };
  });
  command->add_flag("--json", asked->request.json, "for programs");
  add_name(command, *asked);

  asked = std::make_shared<Asked>();
  command =
      add(app, action, asked, "apply", "A router goes by this configuration, now and when it starts", apply);
  command->add_option("file", asked->file, "configuration, YAML")->required();
  command->add_option("--to", asked->to,
                      "the file that the router is started with, where it has never run; default: "
                      "/etc/surety/NAME.yaml");
  add_how(command, *asked);

  asked = std::make_shared<Asked>();
  command = add(app, action, asked, "confirm", "Keeps what was applied with --confirm", confirm);
  add_name(command, *asked);

  asked = std::make_shared<Asked>();
  command = add(app, action, asked, "rollback",
                "Ends a trial; else goes back to the generation before, or to another one", rollback);
  command->add_option("generation", asked->generation, "a number of `surety history`")
      ->check(CLI::PositiveNumber);
  add_how(command, *asked);

  asked = std::make_shared<Asked>();
  command = add(app, action, asked, "history", "What a router went by: when, who, what and why", history);
  command->add_flag("--json", asked->request.json, "for programs");
  add_name(command, *asked);

  asked = std::make_shared<Asked>();
  command = add(app, action, asked, "reload",
                "A router reads its configuration again, as after SIGHUP; waits for what it says", reload);
  command->add_option("name", asked->router, "the router's name; default: the only one that runs");
  command->callback([&action, asked] {
    action = [asked] {
      const auto name = asked->router.empty() ? std::nullopt : std::optional(asked->router);
      if (const auto upgraded = upgrade_instead_of_reload(name)) return *upgraded;
      return carry_out(*asked, reload);
    };
  });
}

}  // namespace surety
