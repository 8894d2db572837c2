// SPDX-License-Identifier: BSD-3-Clause
// Properties of a kernel interface, and the state of its AF_XDP queues.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "config/address.h"

namespace surety {

// True if it is up, with a carrier. DPDK's drivers for kernel devices always report a link that is up.
bool interface_up(const std::string& interface);

// Speed of an interface's link in Mbit/s, if its driver reports one.
std::optional<std::uint32_t> speed_of(const std::string& interface);

// Current receive queues of an interface (ethtool -l); one if its driver does not report them.
struct Channels {
  unsigned rx = 1;
  bool combined = false;  // each transmits too
};
Channels channels_of(const std::string& interface);

// Name of an interface's driver (ethtool -i); empty: it has none.
std::string driver_of(const std::string& interface);

// MTU of an interface; 0: there is no such interface.
unsigned mtu_of(const std::string& interface);
// Sets it. false, with errno: the kernel refuses.
bool set_mtu_of(const std::string& interface, unsigned mtu);

// State of an interface that other programs may change while a router uses it. Another index: the interface
// was deleted or renamed, and another one has its name; 0: no interface has it.
struct InterfaceState {
  int index = 0;
  unsigned mtu = 0;
  MacAddress mac{};
  friend bool operator==(const InterfaceState&, const InterfaceState&) = default;
};
// nullopt: it cannot be read.
std::optional<InterfaceState> state_of(const std::string& interface);

// Sets it up if it is down. false, with errno: the kernel refuses; ENODEV: there is no such interface.
bool bring_up(const std::string& interface);

// The kernel frees a receive queue some time after its AF_XDP socket is closed: in deferred work, without a
// notification. Until then the next socket is refused, and the driver leaks buffers.
enum class XdpQueue {
  free,
  taken,
  unknown,  // probing failed, or the queue does not copy: the probe then holds it for a while
};

// Probes with a socket of its own, whose options a copying device refuses in the last step.
XdpQueue look_at_xdp_queue(int ifindex, std::uint16_t queue);

// Waits for the first `queues` of a device, whose sockets were closed at `closed`. Queues of a veth, which
// always copies, are probed until they are free or two seconds have passed; if they are not free then,
// opening them reports the error. Probing other devices might change their receive mode for a moment: they
// get a tenth of a second, which has been enough for all devices tested.
void wait_for_xdp_queues(const std::string& interface, std::uint16_t queues,
                         std::chrono::steady_clock::time_point closed);

}  // namespace surety
