// SPDX-License-Identifier: BSD-3-Clause
// The kernel side of a port, of an interface or of a template, as the control thread holds it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "router/daemon/linux/divert.h"
#include "router/daemon/linux/forwarding_guard.h"
#include "router/daemon/linux/neighbor_tap.h"
#include "router/daemon/linux/responder.h"
#include "router/daemon/linux/steer.h"
#include "router/daemon/linux/tag_selector.h"
#include "router/daemon/linux/tap_twin.h"
#include "router/pipeline/exception_counters.h"
#include "router/pipeline/routes/port_addresses.h"

namespace surety {

struct ControlPort {
  InterfaceIndex index = 0;
  bool open = false;  // false: the port has no open device yet; all members below are empty
  // Interface index in Routes: of the kernel's own device or of the TAP mirror; negative: of the built-in
  // responder; 0: none.
  int interface = 0;
  std::optional<TapTwin> twin;
  std::optional<ForwardingGuard> guard;  // on a port: for its own device and its interfaces' TAP mirrors
  ForwardingGuard::Watched watched;      // entry of the own device or the TAP mirror
  std::optional<Steer> steer;            // this or `guard`, on the kernel's own device
  std::optional<Divert> divert;          // on the kernel's own device
  std::unique_ptr<Responder> responder;  // nullptr: no neighbours on this port
  std::optional<TagSelector> tags;       // on a template
  std::optional<NeighborTap> tap;        // on the kernel's own device
  std::optional<PortAddresses> addresses;
  std::optional<bool> link_up;    // nullopt: not read yet
  bool inherited = false;         // link and neighbours are the old process's, until the link comes up
  std::optional<bool> told_up;    // last state logged
  std::optional<bool> kernel_up;  // last state from a kernel event
  std::uint64_t link_changes = 0;
  ExceptionCounters counters{};
  // `mtu`: the kernel device's when it was last up; `told_mtu`: from its last event.
  std::optional<std::uint32_t> mtu;
  std::uint32_t told_mtu = 0;

  bool in_kernel() const { return interface > 0; }
};

}  // namespace surety
