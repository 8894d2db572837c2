// SPDX-License-Identifier: BSD-3-Clause
// From a `device:` line to what DPDK probes, and what must hold on this machine before it may.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/config.h"

namespace surety {

// The device arguments DPDK probes, "name,key=value...". std::runtime_error for a kind that is not supported.
std::string device_arguments(const config::Port& port, std::size_t index, const std::string& xdp_program);

// Where this machine has no such device (now): one sentence that says so. Only of what may be plugged in or
// be called otherwise: interfaces of the kernel and PCI devices.
std::optional<std::string> missing_device(const config::Port& port);

// Throws std::runtime_error, one sentence with the fix, where an interface, a file or the path of a socket is
// not as it must be. Changes nothing.
void look_at_device(const config::Port& port);

// The same, also of who serves a socket. Makes the socket's directory, and removes the socket file that a
// server of it has left behind when it died.
void check_device(const config::Port& port);

// What to look at when DPDK refuses the device.
std::string open_hint(const config::Device& device);

// A socket address has room for this many characters (unix(7)).
inline constexpr std::size_t kSocketPath = 107;

}  // namespace surety
