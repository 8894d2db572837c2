// SPDX-License-Identifier: BSD-3-Clause
// A TAP device that stands in the kernel for a port that has none there (memif, vhost, virtio-user, a PCI
// NIC): same MAC address and MTU, a carrier that follows the port's link.
//
// Frames that the port received and the data plane does not forward go to the kernel by it (ARP, neighbour
// discovery, multicast, packets for the router's own addresses); frames that the kernel sends on it are the
// port's to transmit. So addresses, routing daemons, ping and neighbour tables work as on a real interface.
//
// IPv6: the link-local address that the kernel derives from the MAC address; the kernel behaves as a router
// on it (RFC 4861 6.2.1: solicits no routers, takes no advertisements, says in its own ones that it is one).
// That needs a writable /proc/sys/net, as in a namespace of one's own; without, the kernel's defaults hold.
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
  std::uint16_t mtu = 1500;  // of the IP packet
};

class TapTwin {
 public:
  // Makes the device in the calling thread's network namespace and brings it up, without carrier. Needs
  // CAP_NET_ADMIN. Throws std::runtime_error, for one if an interface of that name exists. The device goes
  // when the object does.
  explicit TapTwin(const TapTwinSettings& settings);

  const std::string& name() const { return name_; }
  int ifindex() const { return ifindex_; }
  int fd() const { return fd_.get(); }  // readable: the kernel has frames to send

  // One whole Ethernet frame without FCS, VLAN tags and all. Does not block; false:
  // the kernel did not take it.
  bool write(std::span<const std::uint8_t> frame);
  // The next frame that the kernel sends, at the start of `room`; empty: there is none now. One that is
  // larger than the room is cut: it fills the room.
  std::span<const std::uint8_t> read(std::span<std::uint8_t> room);

  // Whether the port's link is up: the kernel's routes by it come and go with it. Throws std::system_error.
  void set_carrier(bool up);

 private:
  std::string name_;
  Fd fd_;
  int ifindex_;
};

}  // namespace surety
