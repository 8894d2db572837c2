// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/explain/explain.h"

#include <iostream>

#include "router/operate/cli/commands.h"
#include "router/operate/observe/telemetry_client.h"

namespace surety {

void add_explain(CLI::App& app, Action& action) {
  const auto question = std::make_shared<ExplainRequest>();
  auto* explain =
      app.add_subcommand("explain", "Explain what a running router would do with a packet now, and why");
  explain
      ->add_option("packet", question->words,
                   "port or interface where it arrives, and its fields: source=10.1.0.1 destination=10.2.0.1 "
                   "protocol=udp source_port=1 destination_port=5004 dscp=EF vlan=7 length=100; fields "
                   "alone: an existing flow")
      ->required();
  explain->add_option("--name", question->router, "the router's name; default: the only one that runs");
  explain->add_flag("--json", question->json, "for programs");
  explain->callback([&action, question] {
    action = [question] { return surety::explain(*question, TelemetryClient(), std::cout, std::cerr); };
  });
}

}  // namespace surety
