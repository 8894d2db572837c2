// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/capture/capture.h"

#include <chrono>
#include <csignal>
#include <iostream>

#include "config/text/quantity.h"
#include "router/daemon/ports/stop_signals.h"
#include "router/operate/cli/commands.h"
#include "router/operate/observe/telemetry_client.h"

namespace surety {

namespace {

// Rewrites a time as whole seconds. Returns what is wrong with it.
std::string in_seconds(std::string& text) {
  if (text.find_first_not_of("0123456789") == text.npos) return {};
  const auto time = config::parse_time(text);
  if (time.value) text = std::to_string(std::chrono::ceil<std::chrono::seconds>(*time.value).count());
  return time.error;
}

}  // namespace

void add_capture(CLI::App& app, Action& action) {
  const auto wanted = std::make_shared<CaptureOptions>();
  auto* capture =
      app.add_subcommand("capture", "Capture packets of a running router as pcapng, until SIGINT or a limit");
  capture->add_option("what", wanted->what, "a port, an interface, a customer, or `drops`")->required();
  capture->add_option("file", wanted->file, "FILE.pcapng; -: standard output")->required();
  capture
      ->add_option(
          "--filter", wanted->filters,
          "source=, destination=, protocol=, source_port=, destination_port=, dscp=: as `match` has them")
      ->allow_extra_args(false);
  capture->add_option("--reason", wanted->reasons, "reasons of `drops`; default: all")
      ->allow_extra_args(false);
  capture->add_option("--rate", wanted->rate, "packets per second, at most")->capture_default_str();
  capture->add_option("--size", wanted->megabytes, "MB of the file, at most")->capture_default_str();
  capture->add_option("--time", wanted->seconds, "seconds, or a time like `5m`, at most")
      ->transform(CLI::Validator(in_seconds, "TIME"))
      ->capture_default_str();
  capture->add_option("--snap", wanted->snap, "bytes of each packet, at most")->capture_default_str();
  add_router(capture, wanted->router);
  capture->callback([&action, wanted] {
    action = [wanted] {
      std::signal(SIGPIPE, SIG_IGN);  // the reader of standard output may disconnect
      return surety::capture(*wanted, TelemetryClient(), stop_on_signals(), std::cerr);
    };
  });
}

}  // namespace surety
