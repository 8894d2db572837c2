// SPDX-License-Identifier: BSD-3-Clause
#include "router/observe/capture/capture.h"

#include <csignal>
#include <iostream>

#include "router/cli/commands.h"
#include "router/dpdk/ports/stop_signals.h"
#include "router/observe/telemetry_client.h"

namespace surety {

void add_capture(CLI::App& app, Action& action) {
  const auto wanted = std::make_shared<CaptureOptions>();
  auto* capture =
      app.add_subcommand("capture", "Packets of a running router as pcapng, until SIGINT or a limit");
  capture->add_option("what", wanted->what, "a port, an interface, a customer, or `drops`")->required();
  capture->add_option("file", wanted->file, "FILE.pcapng; -: standard output")->required();
  capture
      ->add_option(
          "--filter", wanted->filters,
          "source=, destination=, protocol=, source_port=, destination_port=, dscp=: as `match` has them")
      ->allow_extra_args(false);
  capture->add_option("--reason", wanted->reasons, "of drops; default: all")->allow_extra_args(false);
  capture->add_option("--rate", wanted->rate, "packets a second, at most")->capture_default_str();
  capture->add_option("--size", wanted->megabytes, "MB of the file, at most")->capture_default_str();
  capture->add_option("--time", wanted->seconds, "seconds, at most")->capture_default_str();
  capture->add_option("--snap", wanted->snap, "bytes of each packet, at most")->capture_default_str();
  capture->add_option("--name", wanted->router, "the router's name; default: the only one that runs");
  capture->callback([&action, wanted] {
    action = [wanted] {
      std::signal(SIGPIPE, SIG_IGN);  // whoever reads standard output may go
      return surety::capture(*wanted, TelemetryClient(), stop_on_signals(), std::cerr);
    };
  });
}

}  // namespace surety
