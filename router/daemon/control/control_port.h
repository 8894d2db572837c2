// SPDX-License-Identifier: BSD-3-Clause
// The kernel side of a port, of an interface or of a template, as the control thread holds it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "conditioners/units.h"
#include "router/daemon/linux/divert.h"
#include "router/daemon/linux/kernel_devices.h"
#include "router/daemon/linux/neighbor_tap.h"
#include "router/daemon/linux/responder.h"
#include "router/daemon/linux/steer.h"
#include "router/daemon/linux/tag_selector.h"
#include "router/pipeline/exception_counters.h"
#include "router/pipeline/routes/port_addresses.h"

namespace surety {

// BPF programs on the kernel device of a link.
struct LinkPrograms {
  std::optional<ForwardingGuard> guard;  // on a port: for its own device and its interfaces' TAP mirrors
  ForwardingGuard::Watched watched;      // entry of the own device or the TAP mirror
  std::optional<Steer> steer;            // this or `guard`, on the kernel's own device
  std::optional<Divert> divert;          // on the kernel's own device
};

// State of a link, for its log lines, its neighbours and the routes.
struct LinkState {
  std::optional<bool> up;         // nullopt: not read yet
  std::optional<bool> told;       // last state logged
  Time tell_from{};               // LinkWatch: when kEventsAtOnce more can be logged
  std::optional<bool> in_kernel;  // last state from a kernel event
  bool inherited = false;         // link and neighbours are the old process's, until the link comes up
  std::uint64_t changes = 0;
  // `mtu`: the kernel device's when it was last up; `told_mtu`: from its last event.
  std::optional<std::uint32_t> mtu;
  std::uint32_t told_mtu = 0;
};

struct ControlPort {
  InterfaceIndex index = 0;
  bool open = false;  // false: the port has no open device yet; all members below are empty
  // Interface index in Routes: of the kernel's own device or of the TAP mirror; negative: of the built-in
  // responder; 0: none.
  int interface = 0;
  MacAddress mac{};  // the port's
  std::optional<TapMirror> twin;
  std::uint16_t twin_mtu = 0;  // the last one set
  LinkPrograms programs;
  std::unique_ptr<Responder> responder;  // nullptr: no neighbours on this port
  std::optional<TagSelector> tags;       // on a template
  std::optional<NeighborTap> tap;        // on the kernel's own device
  std::optional<PortAddresses> addresses;
  LinkState state;
  ExceptionCounters counters{};

  bool in_kernel() const { return interface > 0; }
};

}  // namespace surety
