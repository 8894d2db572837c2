// SPDX-License-Identifier: BSD-3-Clause
// TAP mirror of a port without a kernel device (memif, vhost, virtio-user, a PCI NIC): same MAC address and
// MTU, a carrier that follows the port's link.
//
// Received frames that the data plane does not forward go to the kernel by this device (ARP, neighbour
// discovery, multicast, packets for the router's own addresses); frames that the kernel sends on it leave by
// the port. Addresses, routing daemons, ping and neighbour tables therefore work as on a real interface.
//
// IPv6: the link-local address that the kernel derives from the MAC address; the kernel behaves as a router
// on it (RFC 4861 6.2.1: solicits no routers, accepts no advertisements, sets the router flag in its own).
// This needs a writable /proc/sys/net, as in a separate namespace; otherwise the kernel's defaults hold.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "config/address.h"
#include "router/process/fd.h"

namespace surety {

struct TapTwinSettings {
  std::string name;
  MacAddress mac{};
  std::uint16_t mtu = 1500;  // bytes of the IP packet
};

class TapTwin {
 public:
  // Makes the device in the calling thread's network namespace and brings it up, without carrier. Needs
  // CAP_NET_ADMIN. Throws std::runtime_error, for one if an interface of that name exists. The device is
  // removed with the object.
  explicit TapTwin(const TapTwinSettings& settings);

  const std::string& name() const { return name_; }
  int ifindex() const { return ifindex_; }
  int fd() const { return fd_.get(); }  // readable: the kernel has frames to send

  // Passes a whole Ethernet frame, with VLAN tags and without FCS, to the kernel. Does not block; false: the
  // kernel refused it.
  bool write(std::span<const std::uint8_t> frame);
  // The next frame that the kernel sends, at the start of `room`; empty: there is none now. A frame larger
  // than the room is truncated to it.
  std::span<const std::uint8_t> read(std::span<std::uint8_t> room);

  // Sets the state of the port's link, which the kernel's routes by the device follow. Throws
  // std::system_error.
  void set_carrier(bool up);

 private:
  std::string name_;
  Fd fd_;
  int ifindex_;
};

}  // namespace surety
