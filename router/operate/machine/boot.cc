// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <system_error>

#include "router/operate/machine/resources.h"
#include "router/operate/machine/setup.h"

namespace surety::machine {

namespace {

void reserve(const Host& host, int node, unsigned pages, std::ostream& out, std::ostream& warnings) try {
  const auto file = hugepages_file(node);
  if (host.number(file).value_or(0) < pages) host.write(file, std::to_string(pages));
  const long long got = host.number(file).value_or(0);
  (got < pages ? warnings : out) << fmt::format(
      "node {}: {} of {} hugepages of 2 MB{}\n", node, got, pages,
      got < pages ? ": its memory is fragmented, or too small" : "");
} catch (const std::system_error& e) {
  warnings << fmt::format("node {} has no hugepages: {}\n", node, e.what());
}

void bring_up(const Host& host, const TakenNic& taken, const Nic* nic, std::ostream& out,
              std::ostream& warnings) {
  const std::string called = taken.name.empty() ? taken.pci : taken.name;
  if (!nic) {
    warnings << fmt::format("{} (PCI {}, MAC {}) is missing: its port stays closed\n", called, taken.pci,
                            taken.mac);
    return;
  }
  if (!nic->name.empty() && nic->name != taken.name)
    warnings << fmt::format(
        "{} is named {} now: `ip link set {} down; ip link set {} name {}`, or change the configuration\n",
        called, nic->name, nic->name, nic->name, called);
  if (taken.driver.empty()) return;
  if (nic->pci != taken.pci)
    warnings << fmt::format("{} is at {} now, not at {}: change the configuration\n", called, nic->pci,
                            taken.pci);
  if (!nic->kept.empty()) {
    warnings << fmt::format("{} {}: it is not taken\n", called, nic->kept);
    return;
  }
  const std::string failed = bind_driver(host, nic->pci, taken.driver);
  if (failed.empty())
    out << fmt::format("{} is bound to {}\n", nic->pci, taken.driver);
  else
    warnings << failed << '\n';
}

}  // namespace

int boot(const Setup& setup, std::ostream& out, std::ostream& warnings) try {
  const Host& host = setup.host;
  const MachineFile machine = read_machine_file(host);
  for (const auto& [node, pages] : machine.hugepages) reserve(host, node, pages, out, warnings);
  const auto nics = find_nics(host, setup.ssh);
  const auto entries = present_entries(nics, machine);
  for (std::size_t i = 0; i < entries.size(); ++i) bring_up(host, machine.nics[i], entries[i], out, warnings);
  return 0;
} catch (const std::runtime_error& e) {
  warnings << e.what() << '\n';  // the router reports what is missing; the rest of the boot continues
  return 0;
}

}  // namespace surety::machine
