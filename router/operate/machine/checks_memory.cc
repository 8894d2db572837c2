// SPDX-License-Identifier: BSD-3-Clause
// Checks of memory: available against needed by the configuration.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>

#include "router/operate/machine/doctor.h"
#include "router/operate/machine/resources.h"
#include "router/process/human.h"

namespace surety::machine {

namespace {

const fs::path kPages = "/sys/kernel/mm/hugepages/hugepages-2048kB";

std::uint64_t pages_for(const HostFacts& p) {
  return (p.memory + kHugepageBytes - 1) / kHugepageBytes;
}

bool has_pci(const HostFacts& p) {
  return !p.ports_with({config::Device::Kind::pci}).empty();
}

Findings hugepages(const HostFacts& p) {
  using Wanted = config::Dpdk::Hugepages;
  if (!p.config()) return {};
  const Wanted wanted = p.config()->dpdk.hugepages;
  if (wanted == Wanted::off && !has_pci(p)) return {ok("the configuration needs no hugepages")};
  // Pages of a running router are in use.
  const auto pages = static_cast<std::uint64_t>(
      p.host.number(kPages / (p.running ? "nr_hugepages" : "free_hugepages")).value_or(0));
  const std::uint64_t needed = pages_for(p);
  if (pages >= needed) return {ok(fmt::format("{} hugepages of 2 MB, {} are needed", pages, needed))};
  const std::string says = fmt::format("{} hugepages of 2 MB are free, {} are needed", pages, needed);
  // Pages in use by others stay.
  const auto all = static_cast<std::uint64_t>(p.host.number(kPages / "nr_hugepages").value_or(0));
  const std::string mend = fmt::format("echo {} > /proc/sys/vm/nr_hugepages", all + needed - pages + 64);
  if (has_pci(p) || wanted == Wanted::on) return {safe(error(says + ": the router does not start", mend))};
  return {safe(warning(says + ": the router runs without them, slower", mend))};
}

// A node has fewer than in /etc/surety/machine.yaml: the kernel found no contiguous memory.
Findings fragmented(const HostFacts& p) {
  Findings all;
  for (const auto& [node, pages] : p.machine.hugepages) {
    const auto has = p.host.number(hugepages_file(node)).value_or(0);
    if (has >= pages) continue;
    all.push_back(
        safe(warning(fmt::format("node {} has {} of the {} hugepages in {}: its memory is fragmented", node,
                                 has, pages, kMachineFile),
                     fmt::format("echo 1 > /proc/sys/vm/compact_memory; echo {} > {}", pages,
                                 hugepages_file(node).string()))));
  }
  return or_ok(std::move(all), "each node has the hugepages that setup reserved",
               !p.machine.hugepages.empty());
}

// A NIC writes to the memory of its own node, or every packet crosses to another.
Findings nodes(const HostFacts& p) {
  Findings all;
  if (!p.config() || numa_nodes(p.host).size() < 2 || !has_pci(p)) return all;
  std::set<int> of_ports;
  for (const auto* port : p.ports_with({config::Device::Kind::pci}))
    of_ports.insert(
        static_cast<int>(p.host.number(pci_file(full_address(port->device.name), "numa_node")).value_or(-1)));
  of_ports.erase(-1);
  for (const int node : of_ports)
    if (p.host.number(hugepages_file(node)).value_or(0) == 0)
      all.push_back(
          safe(warning(fmt::format("node {} has NICs of the router, but no hugepages", node),
                       fmt::format("echo {} > {}", pages_for(p) + 64, hugepages_file(node).string()))));
  return all;
}

Findings memory(const HostFacts& p) {
  if (!p.config() || p.running) return {};
  const std::string text = p.host.read("/proc/meminfo").value_or("");
  const auto at = text.find("MemAvailable:");
  if (at == text.npos) return {};
  const double has = std::strtod(text.c_str() + at + 13, nullptr) * 1024;
  const auto free_pages = static_cast<std::uint64_t>(p.host.number(kPages / "free_hugepages").value_or(0));
  constexpr double kProgram = 100e6;  // beside DPDK's
  const double needed = kProgram + (free_pages >= pages_for(p) ? 0 : static_cast<double>(p.memory));
  const std::string says =
      fmt::format("{} of memory are free, the router needs {}", human::bytes(has), human::bytes(needed));
  const std::string look =
      "surety check " + p.file + "  # flow_table: {capacity: ...}, dpdk: {max_routes: ..., mbufs: ...}";
  if (has < needed) return {error(says, look)};
  if (has < needed * 1.25) return {warning(says, look)};
  return {ok(says)};
}

// "Max locked memory         8388608              8388608              bytes"
std::optional<double> limit(const std::string& limits, std::string_view name) {
  const auto at = limits.find(name);
  if (at == limits.npos) return {};
  const char* const value = limits.c_str() + limits.find_first_not_of(' ', at + name.size());
  return std::string_view(value).starts_with("unlimited") ? 1e18 : std::strtod(value, nullptr);
}

// Limits of the router, or of this shell: a unit's settings are in effect for the router only.
Findings limits(const HostFacts& p) {
  const std::string whose = p.running && !p.running->pid.empty() ? p.running->pid : "self";
  const std::string text = p.host.read("/proc/" + whose + "/limits").value_or("");
  const std::string who = whose == "self" ? "this shell" : "the router";
  Findings all;
  const auto raise = [&p](const char* key, const char* value) {
    const std::string directory = "/etc/systemd/system/" + p.unit() + ".service.d";
    return fmt::format("mkdir -p {} && printf '[Service]\\n{}={}\\n' > {}/{}.conf && systemctl daemon-reload",
                       directory, key, value, directory, key);
  };
  // Root may lock what it likes; others, and kernels before 5.11 with BPF maps, are counted.
  if (const auto locked = limit(text, "Max locked memory");
      locked && *locked < static_cast<double>(p.memory) && has_pci(p))
    all.push_back(warning(fmt::format("{} may lock {} of memory, the NICs need {}", who,
                                      human::bytes(*locked), human::bytes(static_cast<double>(p.memory))),
                          raise("LimitMEMLOCK", "infinity")));
  constexpr double kFiles = 1024;
  if (const auto files = limit(text, "Max open files"); files && *files < kFiles)
    all.push_back(
        warning(fmt::format("{} may open {} files: ports, sockets and maps need {}", who, *files, kFiles),
                raise("LimitNOFILE", "65536")));
  return or_ok(std::move(all), fmt::format("the limits of {} are high enough", who), !text.empty());
}

}  // namespace

std::span<const Check> checks_of_memory() {
  static constexpr std::array kChecks{Check{"hugepages", hugepages}, Check{"fragmentation", fragmented},
                                      Check{"numa", nodes}, Check{"memory", memory}, Check{"limits", limits}};
  return kChecks;
}

}  // namespace surety::machine
