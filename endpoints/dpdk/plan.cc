// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/dpdk/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rte_eal.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "router/daemon/ports/interface.h"
#include "router/daemon/ports/port.h"
#include "router/daemon/ports/port_device.h"
#include "router/process/this_process.h"

namespace surety::endpoints {

namespace {

constexpr std::uint32_t kSendBuffers = 16384;

// True if the device needs promiscuous mode: for a MAC address of our own, or the solicited-node groups of
// IPv6.
bool wants_all_frames(const config::EndpointPort& p) {
  if (p.device.kind == config::Device::Kind::null || p.device.kind == config::Device::Kind::pcap)
    return false;
  return p.mac || std::any_of(p.addresses.begin(), p.addresses.end(),
                              [](const Prefix& a) { return a.address.is_v6(); });
}

}  // namespace

config::Config port_config(const config::Endpoints& c, const std::string& name) {
  config::Config out;
  out.router.name = name;
  out.dpdk = c.dpdk;
  out.dpdk.max_routes = 0;
  out.flow_table.held_packets = kSendBuffers;
  for (const auto& p : c.ports) {
    config::Port port;
    port.name = p.name;
    port.device = p.device;
    port.mtu = p.mtu;
    port.mac = p.mac;
    port.promiscuous = wants_all_frames(p);
    // The process has no name of its own to derive one from, but its end of the link has.
    derive_mac(port, "endpoint at " + describe(p.device));
    out.ports.push_back(std::move(port));
  }
  return out;
}

EalPlan plan_endpoint_eal(const config::Config& ports, Placement placement, int core) {
  config::Config c = ports;
  if (core >= 0) c.workers = {static_cast<unsigned>(core)};
  EalPlan plan = plan_eal(c);
  plan.arguments.emplace_back("--no-telemetry");
  if (placement == Placement::own_core || core >= 0) return plan;
  const auto lcores = std::find(plan.arguments.begin(), plan.arguments.end(), "--lcores") + 1;
  *lcores = fmt::format("0@({0}),1@({0})", fmt::join(usable_cores(), ","));
  return plan;
}

bool few_cores() {
  return usable_cores().size() < 3;
}

RunningEal::~RunningEal() {
  rte_eal_cleanup();
  std::error_code ignored;  // the directory may not be empty
  std::filesystem::remove("/run/dpdk/" + file_prefix(name_), ignored);
}

void prepare_interfaces(const config::Config& ports) {
  for (const auto& port : ports.ports) {
    const std::string name = DpdkPort::interface(port.device);
    // DpdkPort reports an interface that does not exist, with the fix.
    if (name.empty() || bring_up(name) || errno == ENODEV) continue;
    throw std::runtime_error(fmt::format("{}: cannot be set up: {}", name, std::strerror(errno)));
  }
}

}  // namespace surety::endpoints
