// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/machine/nics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "router/process/human.h"

namespace surety::machine {

namespace {

using Json = nlohmann::json;

const fs::path kNet = "/sys/class/net", kPci = "/sys/bus/pci/devices";

// A virtio NIC is a device on a bus of its own, which lies on the PCI one.
std::string pci_of(const Host& host, const fs::path& device) {
  if (host.link(device / "subsystem") == "pci") return host.link(device).value_or("");
  const fs::path above = host.at(device).lexically_normal();
  std::error_code error;
  const std::string parent = fs::canonical(above, error).parent_path().filename();
  return !error && host.exists(kPci / parent) && parent.find(':') != parent.npos ? parent : "";
}

Nic interface_nic(const Host& host, const std::string& name) {
  const fs::path at = kNet / name;
  Nic nic;
  nic.name = name;
  nic.pci = pci_of(host, at / "device");
  nic.driver = host.link(at / "device/driver").value_or("");
  nic.mac = host.line(at / "address").value_or("");
  if (const auto speed = host.number(at / "speed"); speed && *speed > 0) nic.mbit = speed;
  nic.carrier = host.number(at / "carrier") == 1;
  nic.numa = static_cast<int>(host.number(at / "device/numa_node").value_or(-1));
  nic.rx_queues = 0;
  for (const auto& queue : host.list(at / "queues")) nic.rx_queues += queue.starts_with("rx-");
  nic.rx_queues = std::max(nic.rx_queues, 1U);
  if (const auto master = host.link(at / "master")) nic.uses.push_back("member of " + *master);
  for (const auto& above : host.list(at))
    if (above.starts_with("upper_") && nic.uses.empty()) nic.uses.push_back("below " + above.substr(6));
  return nic;
}

void add_addresses(const Host& host, std::vector<Nic>& nics) {
  const Outcome shown = host.run({"ip", "-j", "address", "show"});
  const Json links = Json::parse(shown.output, nullptr, false);
  if (!shown.ok() || !links.is_array()) return;
  for (const Json& link : links)
    for (Nic& nic : nics)
      if (!nic.name.empty() && link.value("ifname", "") == nic.name)
        for (const Json& a : link.value("addr_info", Json::array())) {
          if (a.value("scope", "") == "link") continue;
          nic.addresses.push_back(fmt::format("{}/{}", a.value("local", ""), a.value("prefixlen", 0)));
          nic.uses.push_back((a.value("dynamic", false) ? "DHCP or SLAAC " : "address ") +
                             nic.addresses.back());
        }
}

bool names(std::string_view text, std::string_view word) {
  const auto joined = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
  };
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const auto line = text.rfind('\n', at) + 1;  // npos + 1 is 0
    const auto first = text.find_first_not_of(" \t", line);
    if ((at == 0 || !joined(text[at - 1])) && (end == text.size() || !joined(text[end])) &&
        text[first] != '#')
      return true;
  }
  return false;
}

// Adds other programs that manage an interface: ifupdown, netplan, networkd, NetworkManager.
void add_mentions(const Host& host, std::vector<Nic>& nics) {
  std::vector<fs::path> files{"/etc/network/interfaces"};
  for (const fs::path directory : {"/etc/network/interfaces.d", "/etc/netplan", "/etc/systemd/network",
                                   "/etc/NetworkManager/system-connections"})
    for (const auto& name : host.list(directory)) files.push_back(directory / name);
  for (const auto& file : files) {
    const std::string text = host.read(file).value_or("");
    for (Nic& nic : nics)
      if ((!nic.name.empty() && names(text, nic.name)) || (!nic.mac.empty() && names(text, nic.mac)))
        nic.uses.push_back(file.string());
  }
}

void add_those_without_interface(const Host& host, std::vector<Nic>& nics) {
  for (const auto& address : host.list(kPci)) {
    const fs::path at = kPci / address;
    if (!host.line(at / "class").value_or("").starts_with("0x02")) continue;
    if (std::ranges::any_of(nics, [&](const Nic& n) { return n.pci == address; })) continue;
    Nic nic;
    nic.pci = address;
    nic.driver = host.link(at / "driver").value_or("");
    nic.numa = static_cast<int>(host.number(at / "numa_node").value_or(-1));
    // The interface is in another network namespace, or another program drives the NIC.
    if (!nic.driver.empty() && nic.driver != "vfio-pci")
      nic.kept = "is used elsewhere, by driver " + nic.driver;
    nics.push_back(std::move(nic));
  }
}

std::string speed_text(const Nic& nic) {
  if (!nic.mbit) return "-";
  return *nic.mbit % 1000 == 0 ? fmt::format("{} Gbit/s", *nic.mbit / 1000)
                               : fmt::format("{} Mbit/s", *nic.mbit);
}

std::string uses_text(const Nic& nic) {
  std::vector<std::string> all;
  if (!nic.kept.empty()) all.push_back(nic.kept + ": never taken");
  all.insert(all.end(), nic.uses.begin(), nic.uses.end());
  return all.empty() ? "free" : fmt::format("{}", fmt::join(all, ", "));
}

}  // namespace

std::vector<Nic> find_nics(const Host& host, const std::optional<std::string>& ssh_connection) {
  const auto kept = kept_interfaces(host, ssh_connection);
  const auto veths = veths_of(host);
  std::vector<Nic> nics;
  for (const auto& name : host.list(kNet))
    if (is_nic(host, veths, name)) nics.push_back(interface_nic(host, name));
  for (Nic& nic : nics)
    if (const auto why = std::ranges::find(kept, nic.name, &Kept::interface); why != kept.end())
      nic.kept = why->why;
  add_addresses(host, nics);
  add_mentions(host, nics);
  add_those_without_interface(host, nics);
  return nics;
}

std::string nic_table(const std::vector<Nic>& nics) {
  TextTable table;
  for (const char* title : {"name", "PCI", "driver"}) table.column(title, TextTable::Align::left);
  table.column("speed", TextTable::Align::right);
  table.column("link", TextTable::Align::left);
  table.column("node", TextTable::Align::right);
  for (const char* title : {"MAC", "used now"}) table.column(title, TextTable::Align::left);
  const auto or_dash = [](const std::string& text) { return text.empty() ? "-" : text; };
  for (const Nic& nic : nics)
    table.row({or_dash(nic.name), or_dash(nic.pci), or_dash(nic.driver), speed_text(nic),
               nic.carrier ? "up" : "-", nic.numa < 0 ? "-" : std::to_string(nic.numa), or_dash(nic.mac),
               uses_text(nic)});
  return table.text();
}

std::vector<const Nic*> present_entries(const std::vector<Nic>& nics, const MachineFile& machine) {
  std::vector<const Nic*> entries(machine.nics.size());
  const auto match = [&](auto same) {
    for (std::size_t i = 0; i < entries.size(); ++i)
      for (const Nic& nic : nics)
        if (entries[i] == nullptr && std::ranges::count(entries, &nic) == 0 && same(nic, machine.nics[i]))
          entries[i] = &nic;
  };
  const auto has_mac = [](const Nic& n, const TakenNic& t) { return !t.mac.empty() && n.mac == t.mac; };
  match([&](const Nic& n, const TakenNic& t) {
    return has_mac(n, t) && (t.pci.empty() ? n.name == t.name : n.pci == t.pci);
  });
  match(has_mac);
  match([](const Nic& n, const TakenNic& t) {
    return !t.pci.empty() && n.pci == t.pci && (n.mac.empty() || t.mac.empty());
  });
  return entries;
}

}  // namespace surety::machine
