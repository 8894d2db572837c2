// SPDX-License-Identifier: BSD-3-Clause
#include "router/observe/explain/explain.h"

#include <iostream>

#include "router/cli/commands.h"
#include "router/observe/telemetry_client.h"

namespace surety {

void add_explain(CLI::App& app, Action& action) {
  const auto question = std::make_shared<ExplainRequest>();
  auto* explain =
      app.add_subcommand("explain", "What a running router would do to a packet that came now, and why");
  explain
      ->add_option("packet", question->words,
                   "where it comes in, a port or an interface, and its fields: source=10.1.0.1 "
                   "destination=10.2.0.1 protocol=udp source_port=1 destination_port=5004 dscp=EF vlan=7 "
                   "length=100; fields alone: a flow that is there")
      ->required();
  explain->add_option("--name", question->router, "the router's name; default: the only one that runs");
  explain->add_flag("--json", question->json, "for programs");
  explain->callback([&action, question] {
    action = [question] { return surety::explain(*question, TelemetryClient(), std::cout, std::cerr); };
  });
}

}  // namespace surety
