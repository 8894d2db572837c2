// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/machine/setup.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "config/parse.h"
#include "router/operate/machine/resources.h"
#include "router/process/pci_driver.h"

namespace surety::machine {

namespace {

// NIC drivers for which DPDK's drivers need the device exclusively.
constexpr std::string_view kDriven[] = {
    "e1000", "e1000e",  "igb",     "igbvf", "igc",  "ixgbe", "ixgbevf", "i40e",       "iavf",    "ice",
    "ena",   "vmxnet3", "bnxt_en", "qede",  "enic", "cxgb4", "gve",     "virtio_net", "vfio-pci"};

std::string name_of(const Nic& nic) {
  return nic.name.empty() ? nic.pci : nic.name;
}

// Why vfio-pci cannot have it, whatever its IOMMU group has; empty: it can.
std::string against_alone(const Host& host, const Nic& nic) {
  if (nic.pci.empty()) return "it is not a PCI device";
  if (!has_iommu(host))
    return "the IOMMU is off (`intel_iommu=on` or `amd_iommu=on` for the kernel, and the firmware's setting)";
  if (!std::ranges::count(kDriven, nic.driver))
    return fmt::format("DPDK has no driver that replaces {}", nic.driver);
  if (bypasses_iommu(host, nic.pci))
    return "its host does not offer VIRTIO_F_ACCESS_PLATFORM, so it bypasses the IOMMU (QEMU: "
           "`iommu_platform=on`)";
  return {};
}

// Why vfio-pci cannot have it, which gets a group as a whole or not at all; empty: it can.
std::string against_vfio(const Host& host, const Nic& nic, const std::vector<Nic>& chosen) {
  if (std::string why = against_alone(host, nic); !why.empty()) return why;
  for (const auto& other : group_companions(host, nic.pci)) {
    const auto found = std::ranges::find(chosen, other, &Nic::pci);
    if (found == chosen.end())
      return fmt::format("{} is in the same IOMMU group and would be taken with it", other);
    if (const std::string why = against_alone(host, *found); !why.empty())
      return fmt::format("{} is in the same IOMMU group and stays with the kernel: {}", other, why);
  }
  return {};
}

void choose_device(const Host& host, const Nic& nic, const std::vector<Nic>& chosen,
                   const SetupOptions& options, Plan& plan) {
  TakenNic taken{nic.name, nic.pci, nic.mac, ""};
  const std::string against = against_vfio(host, nic, chosen);
  if (is_bifurcated(nic.driver) && options.driver != "af_xdp") {
    plan.devices.push_back("pci " + nic.pci);
  } else if (options.driver == "vfio-pci" || (options.driver == "auto" && against.empty())) {
    if (!against.empty())
      throw std::runtime_error(fmt::format("{} cannot be bound to vfio-pci: {}", name_of(nic), against));
    taken.driver = kVfio;
    plan.devices.push_back("pci " + nic.pci);
  } else if (nic.name.empty()) {
    throw std::runtime_error(fmt::format("{} has no interface for af_xdp, and {}", nic.pci, against));
  } else {
    plan.devices.push_back("af_xdp " + nic.name);
    if (options.driver == "auto" && !nic.pci.empty())
      plan.notes.push_back(fmt::format("{} stays with the kernel (af_xdp): {}", nic.name, against));
  }
  if (!nic.uses.empty())
    plan.notes.push_back(fmt::format("{} is used already: {}", name_of(nic), fmt::join(nic.uses, ", ")));
  plan.machine.nics.push_back(std::move(taken));
}

std::vector<int> nodes_of(const Host& host, const std::vector<Nic>& nics) {
  std::set<int> nodes;
  for (const Nic& nic : nics)
    if (nic.numa >= 0) nodes.insert(nic.numa);
  if (nodes.empty()) nodes.insert(numa_nodes(host).front());
  return {nodes.begin(), nodes.end()};
}

// The operator's; the package's has no port.
bool is_operators(const Host& host, const std::string& file) {
  if (!host.exists(file)) return false;
  const auto parsed = config::parse_file(host.at(file));
  return !parsed.ok() || parsed.config->port_count() > 0;
}

// For two routers, since `surety upgrade` has the old and the new process at the same time.
void plan_hugepages(const Host& host, const std::vector<int>& nodes, const SetupOptions& options,
                    std::uint64_t bytes, Plan& plan) {
  const bool pci = std::ranges::any_of(plan.devices, [](const auto& d) { return d.starts_with("pci"); });
  constexpr unsigned kSpare = 64;  // reserve for a reload, or a tool beside the router
  const auto needed = static_cast<unsigned>((bytes + kHugepageBytes - 1) / kHugepageBytes);
  const unsigned pages = options.hugepages.value_or(2 * needed + kSpare);
  auto shared = share_hugepages(host, pages, nodes);
  unsigned sum = 0;
  for (const auto& [node, part] : shared) sum += part;
  if (sum >= pages || sum >= needed + kSpare || pci || options.hugepages) {
    if (sum < pages)
      plan.notes.push_back(fmt::format(
          "only {} of {} hugepages are reserved: more would exceed half of the free memory{}", sum, pages,
          options.hugepages
              ? ""
              : fmt::format("; `surety upgrade` needs {}, a restart does not", 2 * needed + kSpare)));
    plan.machine.hugepages = std::move(shared);
  } else {
    plan.notes.push_back(fmt::format(
        "no hugepages: {} would exceed half of the free memory; the router runs without them, slower",
        needed + kSpare));
  }
}

WorkerCores cores_for(const Host& host, const std::vector<int>& nodes, const SetupOptions& options,
                      std::size_t ports) {
  if (!options.isolate) return choose_cores(host, ports, nodes);
  WorkerCores cores;
  if (*options.isolate == "none") return cores;
  cores.workers = cores.isolated = cores_of(*options.isolate);
  const auto online = cores_of(host.line("/sys/devices/system/cpu/online").value_or("0"));
  if (cores.workers.empty() || std::ranges::count(cores.workers, 0U) > 0 ||
      std::ranges::any_of(cores.workers, [&](unsigned c) { return std::ranges::count(online, c) == 0; }))
    throw std::runtime_error(
        fmt::format("`--isolate {}`: this machine has cores {}, and core 0 stays with the system",
                    *options.isolate, text_of(online)));
  return cores;
}

}  // namespace

std::vector<Nic> chosen_nics(const std::vector<Nic>& nics, const SetupOptions& options) {
  std::vector<Nic> chosen;
  if (options.ports.empty()) {
    std::ranges::copy_if(nics, std::back_inserter(chosen), &Nic::is_free);
    return chosen;
  }
  for (const auto& wanted : options.ports) {
    const auto nic =
        std::ranges::find_if(nics, [&](const Nic& n) { return n.name == wanted || n.pci == wanted; });
    if (wanted.empty() || nic == nics.end())
      throw std::runtime_error(fmt::format("there is no NIC `{}` here", wanted));
    if (!nic->kept.empty())
      throw std::runtime_error(fmt::format(
          "{} {}: it is not taken, since this machine could become unreachable", wanted, nic->kept));
    if (std::ranges::none_of(chosen, [&](const Nic& n) { return n.name == nic->name && n.pci == nic->pci; }))
      chosen.push_back(*nic);
  }
  return chosen;
}

Plan make_plan(const Host& host, const std::vector<Nic>& nics, const SetupOptions& options,
               const PlannedMemory& memory) {
  Plan plan;
  for (const Nic& nic : nics) choose_device(host, nic, nics, options, plan);
  const auto nodes = nodes_of(host, nics);
  const WorkerCores cores = cores_for(host, nodes, options, nics.size());
  plan.machine.isolated = cores.isolated;
  plan.configuration_file = fmt::format("/etc/surety/{}.yaml", options.name);
  const std::string text = first_configuration(nics, plan.devices, cores.workers, options.name);
  const bool operators = is_operators(host, plan.configuration_file);
  if (operators || options.keep_configuration)
    plan.notes.push_back(fmt::format("{} stays as it is{}; its ports should be: {}", plan.configuration_file,
                                     operators ? ", since it is yours" : "", fmt::join(plan.devices, ", ")));
  else
    plan.configuration = text;
  const auto parsed = operators ? config::parse_file(host.at(plan.configuration_file))
                                : config::parse(text, plan.configuration_file);
  if (!parsed.ok() && !operators) throw std::runtime_error(parsed.diagnostics.front().format());
  plan_hugepages(host, nodes, options, parsed.ok() ? memory(*parsed.config) : 0, plan);
  return plan;
}

std::vector<std::string> Plan::steps(const Host& host) const {
  std::vector<std::string> all;
  if (!machine.isolated.empty() && host.has("update-grub"))
    all.push_back(fmt::format("{}: `{}`, update-grub; from the next boot on", kGrubFile,
                              kernel_words(machine.isolated)));
  for (const auto& [node, pages] : machine.hugepages)
    all.push_back(fmt::format("{} hugepages of 2 MB on node {}", pages, node));
  all.push_back(fmt::format("{}: the settings of each boot", kMachineFile));
  if (configuration)
    all.push_back(
        fmt::format("{}: a first configuration with {}", configuration_file, fmt::join(devices, ", ")));
  for (const TakenNic& nic : machine.nics)
    if (!nic.driver.empty())
      all.push_back(fmt::format("{} ({}) is bound to {}", nic.pci, nic.name, nic.driver));
  return all;
}

namespace {

// An af_xdp port reads all queues of its device.
std::string receive_of(const Nic& nic, const std::string& device, const std::vector<unsigned>& workers) {
  if (!device.starts_with("af_xdp") || nic.rx_queues < 2) return {};
  const std::string reader = workers.empty() ? "" : fmt::format(", workers: [{}]", workers.front());
  return fmt::format(", receive: {{queues: {}{}}}", nic.rx_queues, reader);
}

std::string port_name(const Nic& nic, std::size_t number) {
  return nic.name.empty() ? fmt::format("port{}", number) : nic.name;
}

}  // namespace

std::string first_configuration(const std::vector<Nic>& nics, const std::vector<std::string>& devices,
                                const std::vector<unsigned>& workers, const std::string& name) {
  std::string text =
      "# A first configuration, written by `surety setup`. `surety check` checks a change, `surety apply` "
      "applies it.\n"
      "# Still to be added: addresses and routes (or FRR's), `shape` of the uplink, services and contracts.\n"
      "version: 1\n";
  text += fmt::format("router: {{name: {}}}\n", name);
  if (!workers.empty()) text += fmt::format("workers: [{}]\n", text_of(workers));
  text += "ports:\n";
  for (std::size_t i = 0; i < nics.size(); ++i) {
    const Nic& nic = nics[i];
    std::string quoted;
    for (const auto& a : nic.addresses) quoted += fmt::format("{}\"{}\"", quoted.empty() ? "" : ", ", a);
    text += fmt::format("  {}: {{device: {}{}{}{}}}\n", port_name(nic, i), devices[i],
                        quoted.empty() ? "" : ", addresses: [" + quoted + "]",
                        i > 0 && i + 1 == nics.size() ? ", trust: core" : "",
                        receive_of(nic, devices[i], workers));
  }
  return text;
}

}  // namespace surety::machine
