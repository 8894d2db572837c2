// SPDX-License-Identifier: BSD-3-Clause
// Translates a `device:` line into DPDK's device arguments, checks its conditions on this machine, and
// derives MAC addresses for devices without one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "config/config.h"
#include "router/pipeline/packet_disposal.h"

namespace surety {

// State of the file of a Unix socket.
enum class SocketFile {
  absent,
  live,   // a server listens
  stale,  // a socket without a listener: its server has died
  other   // not a socket, or not accessible
};

// Connects, and closes at once. `type`: SOCK_STREAM, SOCK_SEQPACKET.
SocketFile look_at_socket(const std::string& path, int type);

// The device arguments DPDK probes, "name,key=value...". std::runtime_error for a kind that is not supported.
std::string device_arguments(const config::Port& port, std::size_t index, const std::string& xdp_program);

// If this machine has no such device (now), or the kernel uses it: a sentence for the operator. Only for
// devices that may be plugged in, renamed or bound: kernel interfaces and PCI devices. `pci`: where the
// kernel lists the latter.
std::optional<std::string> missing_device(const config::Port& port,
                                          const std::filesystem::path& pci = "/sys/bus/pci/devices");

// Throws std::runtime_error, one sentence with the fix, if an interface, a file or the path of a socket is
// unusable. Changes nothing.
void look_at_device(const config::Port& port);

// look_at_device() with a check that no other process serves the socket. Makes the socket's directory, and
// removes the file of a dead server's socket.
void check_device(const config::Port& port);

// The properties of a kind of device.
struct DeviceKind {
  const char* word;  // in YAML
  KernelPeer peer;
  int socket;        // type of the Unix socket at its path; 0: none
  int family;        // family of the sockets that DPDK's driver receives from; -1: none
  bool interface;    // true for a kernel interface
  bool paired;       // the driver needs as many transmit queues as receive queues
  bool has_mac;      // an address that lasts, and is not the other end's
  const char* hint;  // for the operator, if DPDK refuses the device
};
const DeviceKind& kind_of(const config::Device& device);
std::string describe(const config::Device& device);  // the `device:` of YAML
// True if `holds` for the device of a port.
template <class Holds>
bool any_device(const config::Config& config, Holds&& holds) {
  return std::ranges::any_of(config.ports, [&](const config::Port& p) { return holds(p.device); });
}
inline bool has_kind(const config::Config& config, config::Device::Kind kind) {
  return any_device(config, [kind](const config::Device& d) { return d.kind == kind; });
}

// A socket address has room for this many characters (unix(7)).
inline constexpr std::size_t kSocketPath = 107;

// A MAC address made from names, for a port whose device has none of its own: the same after every start, and
// never the same at two ends of a link. Locally administered, unicast.
MacAddress derived_mac(std::string_view router, std::string_view port);

// Gives a port one that has no `mac:` and a device without an address that lasts: memif, virtio-user, vhost,
// tap (the address of its kernel device is the other end's).
void derive_mac(config::Port& port, std::string_view router);
void derive_macs(config::Config& config);  // all ports, from the router's name

}  // namespace surety
