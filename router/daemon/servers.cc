// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/servers.h"

#include <rte_eal.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "router/daemon/forwarding_plane.h"
#include "router/daemon/observatory.h"
#include "router/daemon/time_of_day.h"
#include "router/daemon/workers/worker.h"
#include "router/operate/capture/capture_server.h"
#include "router/operate/console/console.h"
#include "router/operate/console/contract_history.h"
#include "router/operate/observe/metrics.h"
#include "router/operate/observe/telemetry_client.h"
#include "router/process/metrics_server.h"
#include "router/process/this_process.h"

namespace surety {

Servers::Servers(ForwardingPlane& plane, Observatory& observatory)
    : plane_(plane), observatory_(observatory) {}

Servers::~Servers() = default;

void Servers::open(TelemetryServer::Tables tables, TelemetryServer::Commands commands) {
  tables_ = std::move(tables);
  capture_ = std::make_unique<CaptureServer>(CaptureServer::Router{
      .workers = plane_.workers().size(),
      .set_tap = [this](std::size_t worker,
                        CaptureTap* tap) { return plane_.workers().all()[worker]->set_tap(tap); },
      .now = [this] { return plane_.now(); },
      .time_of_day = [this](Time now) { return plane_.unix_time(now); }});
  try {
    commands.emplace(
        "capture", [this](std::string_view request, Fd& socket) { return capture(request, socket), Json(); });
    telemetry_ = std::make_unique<TelemetryServer>(
        std::filesystem::path(rte_eal_get_runtime_dir()) / kTelemetrySocket,
        [this] { return observatory_.read(); }, tables_, std::move(commands));
  } catch (const std::system_error& e) {
    spdlog::warn("`surety show` does not work: {}", e.what());
  }
  const config::Metrics& m = plane_.config().metrics;
  if (m.listen.empty()) return;
  metrics_ = std::make_unique<MetricsServer>(
      m.listen, load_metrics_access(m),
      std::make_unique<metrics::Readings>([this] { return render(observatory_.read()); }), console());
  spdlog::info("metrics served: url={}://{}/metrics", m.tls ? "https" : "http", m.listen);
}

WebPages Servers::console() {
  try {
    Console::Tables own(tables_.begin(), tables_.end());
    if (const auto& directory = observatory_.report_directory(); !directory.empty()) {
      const auto history = std::make_shared<ContractHistory>(directory, [] {
        return std::chrono::floor<std::chrono::minutes>(time_of_day()).time_since_epoch().count();
      });
      own.emplace("history", [history] { return history->rows(); });
    }
    const auto made = std::make_shared<Console>(
        console_files(), [this] { return observatory_.read(); }, [this] { return plane_.now(); },
        std::move(own));
    return [made](std::string_view path) { return made->page(path); };
  } catch (const std::system_error& e) {
    spdlog::warn("console is off: {}", e.what());
    return {};
  }
}

void Servers::capture(std::string_view text, Fd& socket) {
  std::shared_ptr<const Interfaces> interfaces = observatory_.interfaces();
  std::vector<std::string> ports;
  for (std::size_t p = 0; p < interfaces->ports(); ++p)
    ports.push_back(interfaces->name(static_cast<InterfaceIndex>(p)));
  capture_->begin(parse_capture(text, std::move(interfaces)), std::move(ports), socket);
}

void Servers::admit(const config::Metrics& metrics) {
  if (metrics_) metrics_->admit(load_metrics_access(metrics));
}

void Servers::interrupt_capture() {
  if (capture_) capture_->interrupt();
}

void Servers::close() {
  metrics_.reset();
  telemetry_.reset();
  capture_.reset();
}

}  // namespace surety
