// SPDX-License-Identifier: BSD-3-Clause
// Properties of a kernel interface.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace surety {

// True if it is up, with a carrier. DPDK's drivers for kernel devices always report a link that is up.
bool interface_up(const std::string& interface);

// Speed of its link in Mbit/s, if its driver reports one.
std::optional<std::uint32_t> speed_of(const std::string& interface);

// Its current receive queues (ethtool -l); one if its driver does not report them.
struct Channels {
  unsigned rx = 1;
  bool combined = false;  // each transmits too
};
Channels channels_of(const std::string& interface);

// Name of its driver (ethtool -i); empty: it has none.
std::string driver_of(const std::string& interface);

// Its MTU; 0: there is no such interface.
unsigned mtu_of(const std::string& interface);

// Sets it up if it is down. false, with errno: the kernel refuses; ENODEV: there is no such interface.
bool bring_up(const std::string& interface);

}  // namespace surety
