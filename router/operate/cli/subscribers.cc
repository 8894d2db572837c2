// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/subscribers/subscribers.h"

#include <iostream>

#include "router/daemon/time_of_day.h"
#include "router/operate/cli/commands.h"

namespace surety {

namespace {

using SubscribersCommand = int (*)(const SubscribersRequest&, const ChangeContext&);

struct SubscribersAsked {
  SubscribersRequest request;
  std::string file, state;
};

int change_subscribers(const SubscribersAsked& asked, SubscribersCommand command) {
  SubscribersRequest request = asked.request;
  request.change.file = asked.file;
  request.change.state = asked.state;
  const TelemetryClient client(runtime_directories(), std::chrono::seconds(60));
  return command(request, {client, unix_seconds(), std::cout, std::cerr});
}

class SubscribersAdder {
 public:
  SubscribersAdder(CLI::App& app, Action& action) : app_(app), action_(action) {}

  // A command, and what its options are read into.
  std::pair<CLI::App*, std::shared_ptr<SubscribersAsked>> add(const char* name, const char* help,
                                                              SubscribersCommand command) {
    const auto asked = std::make_shared<SubscribersAsked>();
    auto* added = app_.add_subcommand(name, help);
    added->add_option("--state", asked->state,
                      "state directory, for routers that do not run; default: /var/lib/surety");
    add_router(added, asked->request.change.router);
    added->callback([&action = action_, asked, command] {
      action = [asked, command] { return change_subscribers(*asked, command); };
    });
    return {added, asked};
  }

  // A command that changes subscribers; `words`: what the help calls its arguments.
  std::pair<CLI::App*, std::shared_ptr<SubscribersAsked>> add_change(const char* name, const char* help,
                                                                     const char* owner,
                                                                     SubscribersCommand command) {
    auto [added, asked] = add(name, help, command);
    added->add_option("--owner", asked->request.owner, owner);
    added->add_option("--why", asked->request.change.why, "reason, for the history");
    added->add_flag("--dry-run", asked->request.change.dry_run,
                    "check, print the changes, and change nothing");
    return {added, asked};
  }

 private:
  CLI::App& app_;
  Action& action_;
};

constexpr const char* kOfOwner = "only if this owner has the subscriber; default: the owner that has it";

}  // namespace

void add_subscribers(CLI::App& app, Action& action) {
  auto* subscribers = app.add_subcommand(
      "subscribers", "Change the subscribers of a router, and list them: for hands, and for other systems");
  subscribers->require_subcommand(1);
  SubscribersAdder adder(*subscribers, action);

  auto [import, list] = adder.add_change("import",
                                         "Make the subscribers of an owner those of a list: CSV, whose first "
                                         "line names the columns, or JSON; all "
                                         "of it, or nothing",
                                         "owner of the list; default: import", import_subscribers);
  import->add_option("file", list->file, "the list, or - for standard input")->required();
  import
      ->add_option("--allow-removals", list->request.removals,
                   "most subscribers of the owner that may be removed, in percent; one always may")
      ->check(CLI::Range(0, 100));

  import->add_option(
      "--like", list->request.like,
      "for a ShapedDevices.csv of LibreQoS: the plan that gives its plans their queues and marks");
  auto* port =
      import->add_option("--port", list->request.port, "for a ShapedDevices.csv: the port of its customers");
  import
      ->add_option("--interface", list->request.interface,
                   "in place of --port: an interface on which they are")
      ->excludes(port);

  auto [batch, lines] = adder.add_change(
      "batch",
      "Make several changes as one, all or none: lines like `add NAME KEY=VALUE`, `set NAME KEY=VALUE`, "
      "`remove NAME`, `suspend NAME`, `resume NAME`",
      "owner of what is added; default: manual; of others, as for these commands", batch_subscribers);
  batch->add_option("file", lines->file, "the lines, or - for standard input")->required();
  batch->add_option("--id", lines->request.change.id,
                    "ID of the batch: if one of the last 50 changes has it, nothing is changed");

  auto [add, added] = adder.add_change("add", "Add a subscriber", "owner; default: manual", add_subscriber);
  add->add_option("words", added->request.words,
                  "its name, and its terms: NAME plan=PLAN port=PORT vlan=107 addresses=203.0.113.1/30")
      ->required();

  auto [set, changed] = adder.add_change("set", "Change terms of a subscriber", kOfOwner, set_subscriber);
  set->add_option("words", changed->request.words, "NAME KEY=VALUE; KEY= alone removes a term")->required();

  struct Named {
    const char *name, *help;
    SubscribersCommand command;
  };
  for (const auto& [name, help, command] :
       {Named{"remove", "Remove subscribers", remove_subscribers},
        Named{"suspend", "Suspend subscribers: the filter `suspended` applies, or everything is denied",
              suspend_subscribers},
        Named{"resume", "End a suspension", resume_subscribers}}) {
    auto [of_names, names] = adder.add_change(name, help, kOfOwner, command);
    of_names->add_option("names", names->request.words, "names of subscribers")->required();
  }

  auto [shown, asked] = adder.add(
      "list", "List subscribers: plan, owner, state, and the sums of their contracts", list_subscribers);
  shown->add_option("names", asked->request.words, "names of subscribers; default: all");
  shown->add_option("--owner", asked->request.owner,
                    "only of this owner; `file`: those of the operator's own files");
  shown->add_flag("--json", asked->request.change.json, "for programs");

  auto [one, named] =
      adder.add("show", "Show a subscriber: its contracts, shaper and queues now", show_subscriber);
  one->add_option("name", named->request.words, "its name")->required()->expected(1);
  one->add_flag("--json", named->request.change.json, "for programs");
}

}  // namespace surety
