// SPDX-License-Identifier: BSD-3-Clause
#include <iostream>

#include "router/daemon/show_again.h"
#include "router/operate/cli/commands.h"
#include "router/operate/observe/show_command.h"

namespace surety {

namespace {

struct ShowOptions {
  ShowRequest request;
  std::string router, customer;
  bool violated = false;
  std::vector<std::string> watch;
  CLI::Option* watched = nullptr;
};

int show_as_asked(ShowOptions& asked) {
  ShowRequest& request = asked.request;
  if (!asked.router.empty()) request.router = asked.router;
  if (!asked.customer.empty()) request.selection.where.push_back("customer=" + asked.customer);
  if (asked.violated) request.selection.where.push_back("met=false");
  if (*asked.watched) return show_again(std::move(request), asked.watch);
  return show(request, TelemetryClient(), std::cout, std::cerr);
}

}  // namespace

void add_show(CLI::App& app, Action& action) {
  const auto asked = std::make_shared<ShowOptions>();
  ShowRequest& request = asked->request;
  auto* show = app.add_subcommand("show", "Show a table of a running router");
  show->add_option(
          "what", request.what,
          "ports, interfaces, queues, services, contracts, commitments (or sold), filters, flows, drops, "
          "exceptions, aggregates, domains, signalling, routes, neighbors, events, workers, router or stages")
      ->required();
  show->add_option("where", request.selection.where,
                   "KEY=VALUE or KEY!=VALUE: only such rows; * in VALUE matches anything");
  show->add_option("--sort", request.selection.sort, "KEY: numbers from the largest, others from A to Z");
  show->add_option("--top", request.selection.top, "number of rows; of events the newest");
  show->add_option("--customer", asked->customer, "only of this customer, as customer=...");
  show->add_flag("--violated,--missed", asked->violated,
                 "only contracts that were violated in the last second, as met=false");
  asked->watched =
      show->add_option("--watch", asked->watch,
                       "SECONDS or TIME: repeat, each 1 s by default; counters as their growth per second")
          ->expected(0, 1000)  // including conditions behind it
          ->type_name("");
  show->add_option(
      "--name", asked->router,
      "the router's name; default: the only one that runs, or that runs in this network namespace");
  show->add_flag("--json", request.json, "for programs");
  show->add_flag(
      "--all", request.all,
      "drops, exceptions, signalling: also rows with count 0; queues: also of members of templates");
  show->callback([&action, asked] { action = [asked] { return show_as_asked(*asked); }; });
}

}  // namespace surety
