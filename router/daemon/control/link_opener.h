// SPDX-License-Identifier: BSD-3-Clause
// Opens and closes the links as the configuration changes: finds or makes the kernel side of each, with its
// addresses, BPF programs and responder.
//
// An interface with tags has a TAP mirror even if its port is a kernel device: a VLAN device on it would need
// its frames, which the data plane gets, and is not possible on a NIC that DPDK has taken.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "conditioners/units.h"
#include "router/daemon/control/control_links.h"
#include "router/pipeline/interfaces/interfaces.h"

namespace surety {

class KernelEntries;
class KernelPrograms;
class LinkWatch;
class Routes;

class LinkOpener {
 public:
  // The objects that it acts on.
  struct Parts {
    ControlLinks& links;
    Routes& routes;
    KernelEntries& kernel;
    KernelPrograms& programs;
    LinkWatch& watch;
  };
  // The MAC address of a port's device; nullopt: the port has no open device.
  using MacOf = std::function<std::optional<MacAddress>(std::size_t port)>;
  LinkOpener(const Parts& parts, MacOf mac_of);

  // Opens the links of the configuration that are not open yet and whose devices are. Returns true if the
  // kernel must report all addresses again, for the program of a new port. Until started() it throws
  // std::runtime_error if it cannot make a TAP mirror that the configuration names.
  bool open(Time now);
  void started() { starting_ = false; }

  // Closes the links that are not in the next configuration or whose port has lost its device, and those
  // whose device must be made again.
  void close(const config::Config& next, const Interfaces& interfaces);
  // Changes the addresses of links that are open; `before`: the previous configuration.
  void change_addresses(const config::Config& before);
  // Follows the devices of open links: their MAC address, and the MTU of interfaces on them.
  void follow_devices(Time now);
  // Handles the removal of the device with this descriptor (`ip link del`).
  void lose_device(int fd);

 private:
  bool open_ports(Time now);
  void open_port(ControlPort& c, const MacAddress& mac, Time now);
  void open_interfaces(Time now);
  void open_interface(std::size_t definition, const MacAddress& mac, Time now);
  void open_mirror(ControlPort& c, const std::optional<std::string>& twin);
  void open_tap(ControlPort& c);
  void close_interfaces(const config::Config& next_config, const Interfaces& next);
  void close_ports(const config::Config& next);
  void close_port(ControlPort& c);
  void forget_device(const ControlPort& c);
  void follow_mac(ControlPort& c, const MacAddress& mac, Time now);
  void follow_mtu(ControlPort& c);

  ControlLinks& links_;
  Routes& routes_;
  KernelEntries& kernel_;
  KernelPrograms& programs_;
  LinkWatch& watch_;
  MacOf mac_of_;
  bool starting_ = true;
};

}  // namespace surety
