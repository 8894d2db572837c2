// SPDX-License-Identifier: BSD-3-Clause
// The device of each port: there, whose, connected.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "router/operate/machine/doctor.h"
#include "router/operate/machine/resources.h"
#include "router/process/pci_driver.h"

namespace surety::machine {

namespace {

using Kind = config::Device::Kind;
using Ports = std::vector<const config::Port*>;

Ports kernel_ports(const HostFacts& p) {
  return p.ports_with({Kind::af_xdp, Kind::af_packet});
}
Ports pci_ports(const HostFacts& p) {
  return p.ports_with({Kind::pci});
}

// The NIC that had this name or address at the time of setup, where its MAC address is seen elsewhere now.
const Nic* moved(const HostFacts& p, const std::string& device) {
  const auto entries = present_entries(p.nics, p.machine);
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (const TakenNic& t = p.machine.nics[i]; t.name == device || t.pci == device)
      return entries[i] != nullptr && !entries[i]->mac.empty() ? entries[i] : nullptr;
  return nullptr;
}

Finding gone(const HostFacts& p, const config::Port& port, const std::string& device) {
  const std::string what = fmt::format("port {}: there is no {}", port.name, device);
  const Nic* const nic = moved(p, device);
  if (!nic) return error(what + " in this machine", "surety setup --dry-run");
  if (port.device.kind == Kind::pci)
    return error(fmt::format("{}; its MAC {} is at {} now", what, nic->mac, nic->pci),
                 fmt::format("sed -i 's/{}/{}/' {}", device, nic->pci, p.file));
  return error(fmt::format("{}; the interface with its MAC {} is {} now", what, nic->mac, nic->name),
               fmt::format("ip link set {} down && ip link set {} name {}", nic->name, nic->name, device));
}

Findings devices(const HostFacts& p) {
  Findings all;
  for (const auto* port : kernel_ports(p))
    if (!p.host.exists("/sys/class/net/" + port->device.name))
      all.push_back(gone(p, *port, port->device.name));
  for (const auto* port : pci_ports(p))
    if (const auto pci = full_address(port->device.name); !p.host.exists("/sys/bus/pci/devices/" + pci))
      all.push_back(gone(p, *port, pci));
  return or_ok(std::move(all), "the devices of all ports exist", p.config() && p.config()->port_count() > 0);
}

Findings kept(const HostFacts& p) {
  if (!p.nics_fault.empty()) return {warning(p.nics_fault, "apt-get install iproute2")};
  Findings all;
  for (const auto* port : kernel_ports(p))
    if (const Nic* nic = p.nic(port->device.name); nic && !nic->kept.empty())
      all.push_back(warning(
          fmt::format("port {}: {} {}: a mistake in the configuration can make this machine unreachable",
                      port->name, nic->name, nic->kept),
          "surety setup --dry-run"));
  for (const auto* port : kernel_ports(p))
    if (const Nic* nic = p.nic(port->device.name))
      for (const auto& use : nic->uses)
        if (use.starts_with("member of") || use.starts_with("below "))
          all.push_back(warning(
              fmt::format("port {}: {} is {}, which does not get its packets", port->name, nic->name, use),
              fmt::format("ip link set {} nomaster", nic->name)));
  return all;
}

Findings iommu(const HostFacts& p) {
  const auto ports = pci_ports(p);
  const bool needed = std::ranges::any_of(ports, [&](const auto* port) {
    return !is_bifurcated(driver_of(p.host, full_address(port->device.name)));
  });
  if (!needed) return {ok("no port needs an IOMMU")};
  if (has_iommu(p.host)) return {ok("the IOMMU is on")};
  const bool amd = p.host.read("/proc/cpuinfo").value_or("").find("AuthenticAMD") != std::string::npos;
  return {
      error("vfio-pci needs an IOMMU, and the kernel has none: enable it in the firmware and on the kernel's "
            "command line",
            fmt::format("echo 'GRUB_CMDLINE_LINUX_DEFAULT=\"$GRUB_CMDLINE_LINUX_DEFAULT {} iommu=pt\"' > "
                        "/etc/default/grub.d/iommu.cfg && update-grub  # then reboot",
                        amd ? "amd_iommu=on" : "intel_iommu=on"))};
}

Findings drivers(const HostFacts& p) {
  constexpr std::string_view kOurs[] = {"vfio-pci", "uio_pci_generic", "igb_uio"};
  Findings all;
  for (const auto* port : pci_ports(p)) {
    const std::string pci = full_address(port->device.name), driver = driver_of(p.host, pci);
    if (!p.host.exists("/sys/bus/pci/devices/" + pci)) continue;
    if (is_bifurcated(driver) || std::ranges::count(kOurs, driver) > 0)
      all.push_back(ok(fmt::format("port {}: {} is bound to {}", port->name, pci, driver)));
    else
      all.push_back(error(fmt::format("port {}: {} is bound to {}, not to vfio-pci", port->name, pci,
                                      driver.empty() ? "nothing" : driver),
                          p.host.has("driverctl") ? fmt::format("driverctl set-override {} vfio-pci", pci)
                                                  : fmt::format("dpdk-devbind.py -b vfio-pci {}", pci)));
  }
  return all;
}

// A device with addresses may have been set down on purpose: up, it would have routes.
Finding down(const HostFacts& p, const config::Port& port) {
  const std::string& name = port.device.name;
  const Nic* const nic = p.nic(name);
  Finding finding = warning(fmt::format("port {}: {} is down", port.name, name),
                            "ip link set " + shell_text({name}) + " up");
  return nic && nic->addresses.empty() ? safe(finding) : finding;
}

Findings link(const HostFacts& p) {
  constexpr long long kUp = 1;  // IFF_UP
  Findings all;
  for (const auto* port : kernel_ports(p)) {
    const std::string& name = port->device.name;
    const fs::path at = "/sys/class/net/" + name;
    if (!p.host.exists(at)) continue;
    const long long flags = std::strtoll(p.host.line(at / "flags").value_or("0").c_str(), nullptr, 0);
    const auto speed = p.host.number(at / "speed");
    if ((flags & kUp) == 0)
      all.push_back(down(p, *port));
    else if (p.host.number(at / "carrier") != 1)
      all.push_back(
          warning(fmt::format("port {}: {} has no link: check the cable and the other end", port->name, name),
                  "ethtool " + name));
    else if (p.host.line(at / "duplex") == "half")
      all.push_back(warning(fmt::format("port {}: {} is half duplex", port->name, name),
                            fmt::format("ethtool -s {} autoneg on", name)));
    else if (speed && *speed > 0 && port->shaper.rate &&
             port->shaper.rate->bits_per_second() > static_cast<std::uint64_t>(*speed) * 1'000'000)
      all.push_back(warning(
          fmt::format(
              "port {}: its shape is above the {} Mbit/s of {}: the NIC drops packets of committed rates",
              port->name, *speed, name),
          fmt::format("surety check {}  # ports: {{{}: {{shape: {} Mbit/s}}}}", p.file, port->name, *speed)));
    else
      all.push_back(ok(fmt::format("port {}: {} has a link", port->name, name)));
  }
  return all;
}

// A running router uses the lower of the two MTUs; one that starts sets the configuration's, unless it is
// 1500.
Findings mtus(const HostFacts& p) {
  Findings all;
  for (const auto* port : kernel_ports(p)) {
    const std::string& name = port->device.name;
    const auto mtu = p.host.number("/sys/class/net/" + name + "/mtu");
    if (mtu && *mtu < port->mtu && (p.running || port->mtu == 1500))
      all.push_back(
          warning(fmt::format("port {}: {} has an MTU of {}, below the configured {}: larger packets are "
                              "refused with an ICMP error",
                              port->name, name, *mtu, port->mtu),
                  fmt::format("ip link set {} mtu {}", shell_text({name}), port->mtu)));
  }
  if (all.empty() && !kernel_ports(p).empty()) all.push_back(ok("the devices have the configured MTUs"));
  return all;
}

Findings queues(const HostFacts& p) {
  Findings all;
  for (const auto* port : p.ports_with({Kind::af_xdp})) {
    unsigned has = 0;
    for (const auto& queue : p.host.list("/sys/class/net/" + port->device.name + "/queues"))
      has += queue.starts_with("rx-");
    if (const unsigned reads = port->rx_queues.value_or(1); has != reads && has > 0)
      all.push_back(error(fmt::format("port {}: {} has {} receive queues, the router reads {}", port->name,
                                      port->device.name, has, reads),
                          fmt::format("ethtool -L {} combined {}", port->device.name, reads)));
  }
  return all;
}

}  // namespace

std::span<const Check> checks_of_devices() {
  static constexpr std::array kChecks{Check{"devices", devices}, Check{"access", kept}, Check{"iommu", iommu},
                                      Check{"drivers", drivers}, Check{"link", link},   Check{"mtu", mtus},
                                      Check{"queues", queues}};
  return kChecks;
}

}  // namespace surety::machine
