// SPDX-License-Identifier: BSD-3-Clause
// The BPF programs in the kernel on the devices of links: the addresses that they leave to the kernel,
// diverted frames of the kernel, and guards against forwarding by the kernel.
//
// A program that the kernel refuses is logged, and the router works without it, but where packets would
// bypass the router.
#pragma once

#include <optional>

#include "config/address.h"
#include "router/daemon/control/control_links.h"
#include "router/daemon/linux/bpf_programs.h"
#include "router/daemon/linux/divert.h"
#include "router/daemon/linux/kernel_devices.h"
#include "router/pipeline/routes/port_addresses.h"
#include "router/pipeline/routes/route_events.h"

namespace surety {

class KernelPrograms {
 public:
  // `diverts`: the router can send frames of the kernel by its ports.
  KernelPrograms(ControlLinks& links, bool diverts) : links_(links), diverts_(diverts) {}

  // Opens the programs on the kernel's own device of a port. Throws std::runtime_error if the kernel would
  // forward packets of the network around the router.
  void open(ControlPort& port);
  // Diverts frames of the kernel again, after the device for them was removed.
  void divert(ControlPort& port);
  // Diverts them for some more seconds, on all ports.
  void keep_diverting();

  // Keeps the kernel from forwarding packets that arrived by a link or by the punt device, with any sysctl
  // settings.
  void guard_forwarding(ControlPort& c);
  void guard_forwarding(const PuntDevice& device);

  // Sets the check of sources of packets for the router's addresses, from the configuration.
  void check_sources(const PuntDevice& asker);
  // Adds a known neighbour of a port.
  void add_neighbor(ControlPort& port, const MacAddress& neighbor);
  // Follows the addresses that interfaces of the kernel have.
  void on(const AddressEvent& event);

 private:
  void guard(ControlPort& port);
  void keep_diverting(ControlPort& port);

  ControlLinks& links_;
  bool diverts_;
  AddressHolders holders_;  // holders of addresses that are left to the kernel
  std::optional<ForwardingGuard> punt_guard_;
  TcProgram::Attachment punt_mark_;
};

}  // namespace surety
