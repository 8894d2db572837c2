// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "router/operate/machine/plan.h"

namespace surety::machine {

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
