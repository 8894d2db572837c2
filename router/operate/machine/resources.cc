// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/machine/resources.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <system_error>

namespace surety::machine {

std::string text_of(const MachineFile& file) {
  std::string text =
      "# Written by `surety setup`, undone by `surety setup --undo`; `surety setup --boot` applies it.\n"
      "version: 1\nnics:\n";
  for (const TakenNic& n : file.nics)
    text += fmt::format("  - {{name: \"{}\", pci: \"{}\", mac: \"{}\", driver: \"{}\"}}\n", n.name, n.pci,
                        n.mac, n.driver);
  if (file.nics.empty()) text.insert(text.size() - 1, " []");
  text += "hugepages: {";  // pages of 2 MB, by NUMA node
  for (const auto& [node, pages] : file.hugepages)
    text += fmt::format("{}{}: {}", text.back() == '{' ? "" : ", ", node, pages);
  return text + fmt::format("}}\nisolated_cores: [{}]\n", text_of(file.isolated));
}

MachineFile read_machine_file(const Host& host) {
  MachineFile file;
  const auto text = host.read(kMachineFile);
  if (!text) return file;
  try {
    const YAML::Node root = YAML::Load(*text);
    const auto word = [](const YAML::Node& map, const char* key) { return map[key].as<std::string>(""); };
    for (const YAML::Node& n : root["nics"])
      file.nics.push_back({word(n, "name"), word(n, "pci"), word(n, "mac"), word(n, "driver")});
    for (const auto& node : root["hugepages"])
      file.hugepages[node.first.as<int>()] = node.second.as<unsigned>();
    for (const YAML::Node& core : root["isolated_cores"]) file.isolated.push_back(core.as<unsigned>());
  } catch (const YAML::Exception& e) {
    throw std::runtime_error(fmt::format("{}: {}; `surety setup` writes it again", kMachineFile, e.what()));
  }
  return file;
}

std::string full_address(const std::string& address) {
  return address.size() == std::string_view("01:00.0").size() ? "0000:" + address : address;
}

fs::path pci_file(const std::string& address, const char* what) {
  return fs::path("/sys/bus/pci/devices") / address / what;
}

std::string driver_of(const Host& host, const std::string& address) {
  return host.link(pci_file(address, "driver")).value_or("");
}

bool has_iommu(const Host& host) {
  return !host.list("/sys/kernel/iommu_groups").empty();
}

bool bypasses_iommu(const Host& host, const std::string& address) {
  constexpr std::size_t kAccessPlatform = 33;  // in the kernel's text, the character of this number
  for (const auto& name : host.list(fs::path("/sys/bus/pci/devices") / address))
    if (name.starts_with("virtio")) {
      const auto features = host.line(pci_file(address, (name + "/features").c_str())).value_or("");
      return features.size() <= kAccessPlatform || features[kAccessPlatform] != '1';
    }
  return false;
}

std::vector<std::string> group_companions(const Host& host, const std::string& address) {
  std::vector<std::string> companions;
  for (const auto& other : host.list(pci_file(address, "iommu_group/devices")))
    if (other != address && !host.line(pci_file(other, "class")).value_or("").starts_with("0x0604"))
      companions.push_back(other);
  return companions;
}

namespace {

// The kernel probes drivers again, of which only the one in `override_with` may bind; "\n": any.
std::string rebind(const Host& host, const std::string& address, const std::string& override_with,
                   const std::string& wanted) try {
  host.write(pci_file(address, "driver_override"), override_with);
  if (!driver_of(host, address).empty()) host.write(pci_file(address, "driver/unbind"), address);
  host.write("/sys/bus/pci/drivers_probe", address);
  const std::string now = driver_of(host, address);
  if (wanted.empty() || now == wanted) return {};
  return fmt::format("{} is bound to {}, not to {}; `dmesg` says why", address, now.empty() ? "nothing" : now,
                     wanted);
} catch (const std::system_error& e) {
  return fmt::format("cannot change the driver of {}: {}", address, e.what());
}

}  // namespace

std::string bind_driver(const Host& host, const std::string& address, const std::string& driver) {
  if (driver_of(host, address) == driver) return {};
  const fs::path there = "/sys/bus/pci/drivers/" + driver;
  if (!host.exists(there)) host.run({"modprobe", driver});
  if (!host.exists(there))
    return fmt::format("the kernel has no driver {}; `modprobe {}` says why", driver, driver);
  return rebind(host, address, driver, driver);
}

std::string release_driver(const Host& host, const std::string& address) {
  if (!host.exists(pci_file(address, "driver_override"))) return {};
  return rebind(host, address, "\n", {});
}

std::string release_by_hand(const std::string& address) {
  return fmt::format("echo > {0}; echo {2} > {1}; echo {2} > /sys/bus/pci/drivers_probe",
                     pci_file(address, "driver_override").string(),
                     pci_file(address, "driver/unbind").string(), address);
}

fs::path hugepages_file(int node, const char* what) {
  return fmt::format("/sys/devices/system/node/node{}/hugepages/hugepages-2048kB/{}", node, what);
}

std::vector<int> numa_nodes(const Host& host) {
  std::vector<int> nodes;
  for (const auto& name : host.list("/sys/devices/system/node"))
    if (name.starts_with("node") && name.size() > 4 && std::isdigit(static_cast<unsigned char>(name[4])) != 0)
      nodes.push_back(static_cast<int>(std::strtol(name.c_str() + 4, nullptr, 10)));
  std::ranges::sort(nodes);
  return nodes.empty() ? std::vector{0} : nodes;
}

namespace {

// Node 0 MemFree:  123456 kB; and what files have in memory, which the kernel gives away for pages.
std::uint64_t available_bytes(const Host& host, int node) {
  const std::string text =
      host.read(fmt::format("/sys/devices/system/node/node{}/meminfo", node)).value_or("");
  std::uint64_t kilobytes = 0;
  for (const char* word : {"MemFree:", "FilePages:"})
    if (const auto at = text.find(word); at != text.npos)
      kilobytes += std::strtoull(text.c_str() + at + std::char_traits<char>::length(word), nullptr, 10);
  return kilobytes * 1024;
}

}  // namespace

std::map<int, unsigned> share_hugepages(const Host& host, unsigned pages, const std::vector<int>& nodes) {
  std::map<int, unsigned> shared;
  unsigned left = pages, nodes_left = static_cast<unsigned>(nodes.size());
  for (const int node : nodes) {
    const auto has = static_cast<std::uint64_t>(host.number(hugepages_file(node)).value_or(0));
    const std::uint64_t most = has + available_bytes(host, node) / kHugepageBytes / 2;
    const auto part =
        static_cast<unsigned>(std::min<std::uint64_t>((left + nodes_left - 1) / nodes_left, most));
    // Pages that another program has reserved stay.
    if (part > 0) shared[node] = std::max(part, static_cast<unsigned>(has));
    left -= part;
    --nodes_left;
  }
  return shared;
}

}  // namespace surety::machine
