// SPDX-License-Identifier: BSD-3-Clause
// Properties of a kernel interface.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

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

// Sets it up if it is down. false, with errno: the kernel refuses; ENODEV: there is no such interface.
bool bring_up(const std::string& interface);

}  // namespace surety
