// SPDX-License-Identifier: BSD-3-Clause
// From a `device:` line to what DPDK probes, and what must hold on this machine before it may.
#pragma once

#include <cstdint>
#include <string>

#include "config/config.h"

namespace surety {

// The device arguments DPDK probes, "name,key=value...". std::runtime_error for a kind that is not supported.
std::string device_arguments(const config::Port& port, std::size_t index, const std::string& xdp_program);

// std::runtime_error, one sentence with the fix, where an interface, a file or a socket is not as it must be.
// Takes away the socket file that a server of this port's socket has left behind when it died.
void check_device(const config::Port& port);

// What to look at when DPDK refuses the device.
std::string open_hint(const config::Device& device);

// A socket address has room for this many characters (unix(7)).
inline constexpr std::size_t kSocketPath = 107;

}  // namespace surety
