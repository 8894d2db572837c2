// SPDX-License-Identifier: BSD-3-Clause
// What the kernel says of one of its interfaces.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace surety {

// Is it up, with a carrier? DPDK's drivers for kernel devices report a link that is always up.
bool interface_up(const std::string& interface);

// Of its link, in Mbit/s, where its driver knows one.
std::optional<std::uint32_t> speed_of(const std::string& interface);

// Queues it receives in now (ethtool -l); one where its driver knows nothing of the kind.
struct Channels {
  unsigned rx = 1;
  bool combined = false;  // each transmits too
};
Channels channels_of(const std::string& interface);

// Its driver's name (ethtool -i); empty: it has none.
std::string driver_of(const std::string& interface);

// Its MTU; 0: there is none of that name.
unsigned mtu_of(const std::string& interface);

// Sets it up where it is not. false, with errno: the kernel refuses; ENODEV: there is none of that name.
bool bring_up(const std::string& interface);

}  // namespace surety
