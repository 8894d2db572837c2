// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/punt.h"

#include <linux/if_tun.h>
#include <net/if.h>
#include <unistd.h>

#include <stdexcept>

#include "router/daemon/linux/netlink_commands.h"
#include "router/daemon/linux/tun.h"

namespace surety {
namespace {

using tun::ensure_setting;
using tun::read_setting;
using tun::setting_path;

void set_own(const std::string& name, const std::string& key, int value) {
  const std::string path = setting_path("ipv4", name, key);
  if (!ensure_setting(path, value))
    throw std::runtime_error("cannot set " + path + " to " + std::to_string(value));
}

// The kernel uses the maximum of the device's and the global filter, and 2 is loose: the source must be
// reachable at all. A device without an address fails even that; 192.0.0.8 is for devices without one (RFC
// 7600).
void pass_reverse_path_filter(const std::string& name) {
  if (read_setting(setting_path("ipv4", "all", "rp_filter")) == 0) return set_own(name, "rp_filter", 0);
  set_own(name, "rp_filter", 2);
  NetlinkCommands commands;
  const Prefix dummy{IpAddress::v4(192, 0, 0, 8), 32};
  try {
    commands.add_address(static_cast<int>(::if_nametoindex(name.c_str())), dummy);
  } catch (const std::runtime_error& e) {
    throw std::runtime_error(name + ": " + e.what());
  }
}

void let_kernel_forward(const std::string& name) {
  set_own(name, "forwarding", 1);
  pass_reverse_path_filter(name);
  // Steer::check_sources() looks routes up as if packets came from this device.
  ensure_setting(setting_path("ipv6", name, "forwarding"), 1);
  // IPv6 may be off altogether, or its kernel too old: see punt.h.
  ensure_setting(setting_path("ipv6", name, "force_forwarding"), 1);
  // No link-local address, hence no router solicitations and reports into the device.
  ensure_setting(setting_path("ipv6", name, "addr_gen_mode"), 1);
}

}  // namespace

PuntDevice::PuntDevice(const std::string& name) : fd_(tun::make(name, IFF_TUN)), name_(name) {
  let_kernel_forward(name);
  tun::bring_up(name);
}

bool PuntDevice::write(std::span<const std::uint8_t> ip_packet) {
  return ::write(fd_.get(), ip_packet.data(), ip_packet.size()) == static_cast<ssize_t>(ip_packet.size());
}

}  // namespace surety
