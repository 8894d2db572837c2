// SPDX-License-Identifier: BSD-3-Clause
// Devices of the kernel: the TUN and TAP devices that the router makes (PuntDevice, TapMirror), and the
// settings of interfaces.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "config/address.h"
#include "router/process/fd.h"

struct ifreq;  // net/if.h

// Common functions of TUN and TAP devices: creation, settings, bringing up.
//
// All functions work in the calling thread's network namespace, need CAP_NET_ADMIN, and throw
// std::runtime_error, one sentence, on failure.
namespace surety::tun {

// True if Linux accepts it as an interface name: 1 to 15 characters, without `/`, `:`, `%` and white space.
bool valid_name(const std::string& name);

// A non-blocking descriptor of a new device, which is removed when it is closed. `flags`: IFF_TUN or IFF_TAP
// and more. Throws if a device of that name exists.
Fd make(const std::string& name, short flags);

// The next packet or frame that the kernel sends by the device, at the start of `room`; empty: there is none
// now. A frame larger than the room is truncated to it.
std::span<const std::uint8_t> read(const Fd& fd, std::span<std::uint8_t> room);

ifreq request_for(const std::string& name);
// An ioctl on an interface; `what` as in "cannot `what`".
void configure(unsigned long command, ifreq& request, const std::string& what);
void bring_up(const std::string& name);

// net.<family>.conf.<device>.<key>; -1: there is none.
std::string setting_path(const std::string& family, const std::string& device, const std::string& key);
int read_setting(const std::string& path);
// Sets a setting unless it has the value already: in a container /proc/sys is often read-only.
bool ensure_setting(const std::string& path, int value);

}  // namespace surety::tun

namespace surety {

// Sets the kernel's behaviour on the interface of a port to that of a router, which customers cannot
// influence.
//
// Router advertisements are for hosts (RFC 4861 6.2.7), redirects as well (RFC 1812 5.2.7.2, RFC 4861 8.2):
// any host on the link could direct all packets to itself. The kernel sends no redirects either, since it
// does not see the packets that the data plane forwards.
class InterfaceSettings {
 public:
  // Works in the calling thread's network namespace.
  explicit InterfaceSettings(const std::string& interface);
  // Restores settings that are still as this object set them, also if the interface was renamed meanwhile.
  ~InterfaceSettings();
  InterfaceSettings(InterfaceSettings&&) = default;
  InterfaceSettings& operator=(InterfaceSettings&&) = delete;
  // Settings that could not be switched off: paths below /proc/sys.
  const std::vector<std::string>& refused() const { return refused_; }

 private:
  struct Setting {
    const char *family, *key;
    int value;
  };
  unsigned index_;
  std::vector<Setting> before_;  // changed settings
  std::vector<std::string> refused_;
};

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

struct TapMirrorSettings {
  std::string name;
  MacAddress mac{};
  std::uint16_t mtu = 1500;  // bytes of the IP packet
};

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
class TapMirror {
 public:
  // Makes the device in the calling thread's network namespace and brings it up, without carrier. Needs
  // CAP_NET_ADMIN. Throws std::runtime_error, for one if an interface of that name exists. The device is
  // removed with the object.
  explicit TapMirror(const TapMirrorSettings& settings);

  const std::string& name() const { return name_; }
  int ifindex() const { return ifindex_; }
  int fd() const { return fd_.get(); }  // readable: the kernel has frames to send

  // Passes a whole Ethernet frame, with VLAN tags and without FCS, to the kernel. Does not block; false: the
  // kernel refused it.
  bool write(std::span<const std::uint8_t> frame);
  // The next frame that the kernel sends, at the start of `room`; empty: there is none now. A frame larger
  // than the room is truncated to it.
  std::span<const std::uint8_t> read(std::span<std::uint8_t> room);

  // Changes its MAC address, or its MTU. Throws std::runtime_error.
  void set_mac(const MacAddress& mac);
  void set_mtu(std::uint16_t mtu);
  // Sets the state of the port's link, which the kernel's routes by the device follow. Throws
  // std::system_error.
  void set_carrier(bool up);

 private:
  std::string name_;
  Fd fd_;
  int ifindex_;
};

}  // namespace surety
