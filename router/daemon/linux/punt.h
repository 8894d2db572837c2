// SPDX-License-Identifier: BSD-3-Clause
// A TUN device by which the control thread passes IP packets to the kernel that no port's own device can
// take: packets whose next hop must be resolved, and packets about which only the kernel has a source address
// for errors (all other ICMP errors are the router's own, icmp_error.h). The kernel forwards them by its own
// routes.
//
// The kernel forwards and answers packets from this device without any global setting: for IPv4 the device's
// own `forwarding` is on and its reverse path filter off (where net.ipv4.conf.all.rp_filter is on: loose,
// with the dummy address 192.0.0.8, and sources without a route get no answer). For IPv6 the device's
// `force_forwarding` is on where the kernel has it (Linux 6.17); an older kernel forwards, and sends the hop
// limit's ICMPv6 errors, only with net.ipv6.conf.all.forwarding=1, which is global and so the operator's to
// set.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "router/process/fd.h"

namespace surety {

class PuntDevice {
 public:
  // Makes the device, in the calling thread's network namespace, and brings it up. Needs CAP_NET_ADMIN.
  // Throws std::runtime_error, e.g. if a device of that name exists. The device is removed with the object.
  explicit PuntDevice(const std::string& name = "surety-punt");

  const std::string& name() const { return name_; }
  // Writes one whole IPv4 or IPv6 packet. Does not block. false: the kernel did not take it.
  bool write(std::span<const std::uint8_t> ip_packet);

 private:
  Fd fd_;
  std::string name_;
};

}  // namespace surety
