// SPDX-License-Identifier: BSD-3-Clause
// The router, where it runs; and what would keep it from starting, where it does not.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <sstream>

#include "router/operate/machine/doctor.h"

namespace surety::machine {

namespace {

// The inode of the socket that listens at a TCP port; "0": none.
std::string listener_of(const Host& host, unsigned port) {
  for (const char* file : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::istringstream lines(host.read(file).value_or(""));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream fields(line);
      std::string number, local, remote, state, skip, inode;
      fields >> number >> local >> remote >> state >> skip >> skip >> skip >> skip >> skip >> inode;
      const auto colon = local.rfind(':');
      if (state == "0A" && colon != local.npos &&
          std::strtoul(local.c_str() + colon + 1, nullptr, 16) == port)
        return inode;
    }
  }
  return "0";
}

// Name and number of a process that has the socket; empty: not to be found.
std::pair<std::string, std::string> holder_of(const Host& host, const std::string& inode) {
  for (const auto& pid : host.list("/proc")) {
    if (pid.find_first_not_of("0123456789") != pid.npos) continue;
    const fs::path at = fs::path("/proc") / pid;
    for (const auto& fd : host.list(at / "fd"))
      if (host.link(at / "fd" / fd) == fmt::format("socket:[{}]", inode))
        return {host.line(at / "comm").value_or("?"), pid};
  }
  return {};
}

Findings metrics_port(const HostFacts& p) {
  if (!p.config() || p.config()->metrics.listen.empty()) return {};
  const std::string& listen = p.config()->metrics.listen;
  const auto port = static_cast<unsigned>(std::strtoul(listen.c_str() + listen.rfind(':') + 1, nullptr, 10));
  const std::string inode = port == 0 ? "0" : listener_of(p.host, port);
  if (inode == "0") {
    if (p.running && port != 0)
      return {warning(fmt::format("the router runs, but nothing listens on {}", listen),
                      "systemctl restart " + p.unit())};
    return {ok(fmt::format("{} is free for metrics", listen))};
  }
  const auto [name, pid] = holder_of(p.host, inode);
  if (p.running && (p.running->pid.empty() || pid == p.running->pid))
    return {ok(fmt::format("metrics are served at {}", listen))};
  return {error(fmt::format("{} for metrics is in use{}", listen,
                            pid.empty() ? "" : fmt::format(" by {} ({})", name, pid)),
                fmt::format("ss -ltnp 'sport = :{}'", port))};
}

// Ports without a device; a device that the machine lacks is the check `devices`.
Findings missing_ports(const HostFacts& p) {
  if (!p.running) return {};
  Findings all;
  for (const auto& row : p.running->ports)
    if (const std::string port = row.value("name", ""); row.value("missing", false)) {
      const std::string device = row.value("device", "its device");
      const bool at_start = device.starts_with("pci ");
      all.push_back(error(fmt::format("port {} is missing: the router has not opened {}{}", port, device,
                                      at_start ? "; it opens PCI devices when it starts" : ""),
                          at_start ? fmt::format("systemctl restart {}  # once the device is back", p.unit())
                                   : fmt::format("journalctl -u {} | grep 'port {}'", p.unit(), port)));
    }
  if (all.empty()) all.push_back(ok("the router has opened the devices of all ports"));
  return all;
}

Findings routes(const HostFacts& p) {
  if (!p.running) return {};
  std::set<std::string> unresolved, no_room;
  for (const auto& row : p.running->routes) {
    const std::string state = row.value("state", ""), prefix = row.value("prefix", "");
    if (state == "unresolved") unresolved.insert(row.value("next_hop", prefix));
    if (state == "no_room") no_room.insert(prefix);
  }
  constexpr std::size_t kShown = 3;
  const auto some = [](const std::set<std::string>& names) {
    std::vector<std::string> first;
    for (const auto& name : names)
      if (first.size() < kShown) first.push_back(name);
    const std::size_t more = names.size() - first.size();
    return fmt::format("{}{}", fmt::join(first, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
  };
  Findings all;
  if (!unresolved.empty())
    all.push_back(
        warning("next hops that do not answer: " + some(unresolved), "surety show routes state=unresolved"));
  if (!no_room.empty())
    all.push_back(error("routes without room in the tables: " + some(no_room),
                        "surety show routes state=no_room  # dpdk: {max_routes: ...}"));
  return or_ok(std::move(all), fmt::format("all {} routes are resolved", p.running->routes.size()));
}

// YAML's routes are the kernel's too, or a session of the router itself finds no way.
Findings routes_of_kernel(const HostFacts& p) {
  using Kind = config::Device::Kind;
  if (!p.running || !p.config() || !p.config()->kernel.static_routes || !p.config()->kernel.routes ||
      p.ports_with({Kind::af_xdp, Kind::af_packet}).empty())
    return {};
  std::set<std::string> has;
  for (const char* family : {"-4", "-6"}) {
    const Outcome shown = p.host.run({"ip", "-j", family, "route", "show", "table", "main"});
    const auto rows = nlohmann::json::parse(shown.output, nullptr, false);
    if (!shown.ok()) return {};
    for (const auto& row : rows.is_array() ? rows : nlohmann::json::array()) {
      std::string to = row.value("dst", "");
      if (to == "default") to = std::string_view(family) == "-4" ? "0.0.0.0/0" : "::/0";
      has.insert(to.find('/') == to.npos ? to + (std::string_view(family) == "-4" ? "/32" : "/128") : to);
    }
  }
  Findings all;
  for (const config::Route& route : p.config()->routes)
    if (const std::string to = to_string(route.to); !has.contains(to))
      all.push_back(warning(
          fmt::format("the kernel lacks the route {} of {}: the router's own sessions do not reach it", to,
                      p.file),
          fmt::format("journalctl -u {} | grep 'kernel route not changed'", p.unit())));
  return or_ok(std::move(all), "the kernel has the configuration's routes", !p.config()->routes.empty());
}

// Addresses that the kernel has refused, for example while IPv6 is disabled on the device.
Findings addresses_of_kernel(const HostFacts& p) {
  using Kind = config::Device::Kind;
  if (!p.running || !p.config() || !p.config()->kernel.addresses || !p.nics_fault.empty()) return {};
  Findings all;
  bool any = false;
  for (const auto* port : p.ports_with({Kind::af_xdp, Kind::af_packet})) {
    const Nic* nic = p.nic(port->device.name);
    for (const Prefix& prefix : nic != nullptr ? port->addresses : std::vector<Prefix>{}) {
      const std::string address = to_string(prefix);
      if (address.starts_with("fe80:")) continue;  // not in Nic::addresses
      any = true;
      if (std::ranges::find(nic->addresses, address) == nic->addresses.end())
        all.push_back(warning(fmt::format("port {}: {} lacks {} in the kernel, which may have refused it",
                                          port->name, nic->name, address),
                              fmt::format("journalctl -u {} | grep '{}'", p.unit(), address)));
    }
  }
  return or_ok(std::move(all), "the kernel has the ports' addresses", any);
}

Findings versions(const HostFacts& p) {
  if (!p.running || p.running->router.empty()) return {};
  const std::string runs = p.running->router.front().value("version", "");
  const std::string exe =
      p.running->pid.empty() ? "" : p.host.link("/proc/" + p.running->pid + "/exe").value_or("");
  if (runs != p.version || exe.ends_with(" (deleted)"))
    return {warning(fmt::format("surety {} runs, {} is installed{}", runs, p.version,
                                runs == p.version ? ", as another build" : ""),
                    "systemctl restart " + p.unit())};
  return {ok(fmt::format("surety {} runs", runs))};
}

}  // namespace

std::span<const Check> checks_of_running() {
  static constexpr std::array kChecks{Check{"metrics", metrics_port},
                                      Check{"ports", missing_ports},
                                      Check{"routes", routes},
                                      Check{"kernel-routes", routes_of_kernel},
                                      Check{"kernel-addresses", addresses_of_kernel},
                                      Check{"version", versions}};
  return kChecks;
}

}  // namespace surety::machine
