// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/refusals.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <sstream>
#include <stdexcept>

#include "router/daemon/ports/eal.h"
#include "router/daemon/ports/packet_pool.h"
#include "router/daemon/ports/port.h"
#include "router/daemon/ports/port_device.h"
#include "router/daemon/ports/work_plan.h"
#include "router/operate/observe/telemetry_client.h"
#include "router/pipeline/signals/signal_keys.h"
#include "router/process/listener.h"
#include "router/process/metrics_server.h"

namespace surety {

namespace {

// True if a device of the configuration exists on this machine, and none is missing.
bool is_for_here(const config::Config& c) {
  const auto missing = [](const config::Port& p) { return p.exists() && missing_device(p); };
  using Kind = config::Device::Kind;
  const auto of_machine = [](const config::Port& p) {
    return p.device.kind == Kind::pci || p.device.kind == Kind::pcap ||
           !DpdkPort::interface(p.device).empty();
  };
  return std::ranges::any_of(c.ports, of_machine) && std::ranges::none_of(c.ports, missing);
}

// False for what root may read and this process may not: nothing is known of it.
bool may_look_at(const std::string& file) {
  return ::access(file.c_str(), R_OK) == 0 || errno != EACCES;
}

bool may_look_at(const config::Metrics& m) {
  const bool tls = !m.tls || (may_look_at(m.tls->cert_file) && may_look_at(m.tls->key_file));
  return tls && (m.password_file.empty() || may_look_at(m.password_file));
}

// The router gives the kernel the addresses of its ports before it listens.
bool gives_address_of(const config::Config& c, const std::string& listen) {
  std::string host = listen.substr(0, listen.rfind(':'));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const auto address = parse_address(host);
  const auto has = [&](const auto& x) {
    return std::ranges::any_of(x.addresses, [&](const Prefix& p) { return p.address == address; });
  };
  return address && (std::ranges::any_of(c.ports, has) || std::ranges::any_of(c.interfaces, has));
}

// True also where that may not be known.
bool runs_already(const std::string& router) {
  try {
    return TelemetryClient().runs(router);
  } catch (const std::runtime_error&) {
    return true;
  }
}

// Checks what does not depend on the abilities of the devices: only open devices report them.
void check_cores(const config::Config& c) {
  const PortAbility any{.max_rx_queues = UINT16_MAX};
  plan_work(c, worker_cores(c), std::vector(c.ports.size(), any));
}

void check_memory(const config::Config& c) {
  std::string note;
  const bool hugepages = !runs_already(c.router.name) && choose_hugepages(c, note);
  const std::size_t workers = count_workers(c);
  if (::geteuid() == 0) check_limits(c, workers, plan_memory(c, workers), hugepages, limits_here());
}

}  // namespace

std::vector<std::string> refused_here(const config::Config& c) {
  if (!is_for_here(c)) return {};
  std::vector<std::string> all;
  const auto attempt = [&](auto&& what) {
    try {
      what();
    } catch (const std::runtime_error& e) {
      std::istringstream lines(e.what());
      for (std::string line; std::getline(lines, line);) all.push_back(line);
    }
  };
  attempt([&] { check_cores(c); });
  attempt([&] { check_memory(c); });
  for (const config::Port& p : c.ports)
    if (p.exists()) attempt([&] { look_at_device(p); });
  attempt([&] { check_mtus(c); });
  if (const std::string& listen = c.metrics.listen; !listen.empty()) {
    if (may_look_at(c.metrics)) attempt([&] { load_metrics_access(c.metrics); });
    if (!gives_address_of(c, listen)) attempt([&] { check_address(listen); });
  }
  if (c.signalling.mode != config::Signalling::Mode::off && may_look_at(c.signalling.key_file))
    for (const std::string& error : load_signal_keys(c).errors) all.push_back(error);
  return all;
}

}  // namespace surety
