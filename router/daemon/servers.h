// SPDX-License-Identifier: BSD-3-Clause
// The doors of a running router: its telemetry socket with all commands, captures, metrics and console.
#pragma once

#include <memory>
#include <string_view>

#include "router/operate/observe/telemetry_server.h"
#include "router/process/metrics_server.h"

namespace surety {

class CaptureServer;
class ForwardingPlane;
class MetricsServer;
class Observatory;
namespace config {
struct Metrics;
}

class Servers {
 public:
  // Both must outlive this object.
  Servers(ForwardingPlane& plane, Observatory& observatory);
  ~Servers();
  Servers(const Servers&) = delete;
  Servers& operator=(const Servers&) = delete;

  // `tables`: of the router, beside those of its readings. `capture` is added to the commands. Throws
  // std::runtime_error if metrics cannot be served; without its socket the router runs, with a warning.
  void open(TelemetryServer::Tables tables, TelemetryServer::Commands commands);
  void close();

  // Replaces the access to metrics. On std::runtime_error nothing has changed.
  void admit(const config::Metrics& metrics);
  // Ends a capture because the ports have changed.
  void interrupt_capture();

 private:
  void capture(std::string_view request, Fd& socket);
  WebPages console();

  ForwardingPlane& plane_;
  Observatory& observatory_;
  TelemetryServer::Tables tables_;
  std::unique_ptr<TelemetryServer> telemetry_;
  std::unique_ptr<CaptureServer> capture_;
  std::unique_ptr<MetricsServer> metrics_;
};

}  // namespace surety
