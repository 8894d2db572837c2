// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/machine/binding.h"

#include <fmt/format.h>

#include <system_error>

namespace surety::machine {

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

}  // namespace surety::machine
