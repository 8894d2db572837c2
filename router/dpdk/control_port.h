// SPDX-License-Identifier: BSD-3-Clause
// What stands behind a port, or an interface or a template on one, at the control thread.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "router/exception_counters.h"
#include "router/linux/divert.h"
#include "router/linux/forwarding_guard.h"
#include "router/linux/neighbor_tap.h"
#include "router/linux/responder.h"
#include "router/linux/steer.h"
#include "router/linux/tag_selector.h"
#include "router/linux/tap_twin.h"
#include "router/routes/port_addresses.h"

namespace surety {

struct ControlPort {
  InterfaceIndex index = 0;
  bool open =
      false;  // false: of a port that is not there, or whose device is not open yet; what follows is empty
  // As Routes knows it: of the kernel's own device or of the twin; below 0 where the responder speaks for the
  // port; 0: nobody does.
  int interface = 0;
  std::optional<TapTwin> twin;
  std::optional<ForwardingGuard> guard;  // of a port: for its own device and the twins of its interfaces
  ForwardingGuard::Watched watched;      // of the own device or the twin
  std::optional<Steer> steer;            // or guard, of the kernel's own device
  std::optional<Divert> divert;          // of the kernel's own device
  std::unique_ptr<Responder> responder;  // null: there are no stations on this port
  std::optional<TagSelector> tags;       // of a template
  std::optional<NeighborTap> tap;        // of the kernel's own device
  std::optional<PortAddresses> addresses;
  std::optional<bool> link_up;    // none: not looked at yet
  bool inherited = false;         // the link and its stations were another router's, until it comes up
  std::optional<bool> told_up;    // as the log has it
  std::optional<bool> kernel_up;  // as the kernel has told it
  std::uint64_t link_changes = 0;
  ExceptionCounters counters{};
  // Of the kernel's device: when it was up last; by the last event.
  std::optional<std::uint32_t> mtu;
  std::uint32_t told_mtu = 0;

  bool in_kernel() const { return interface > 0; }
};

}  // namespace surety
