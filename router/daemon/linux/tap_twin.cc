// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/tap_twin.h"

#include <linux/if_tun.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "router/daemon/linux/tun.h"

namespace surety {
namespace {

Fd make_tap(const std::string& name) {
  if (tun::valid_name(name) && ::if_nametoindex(name.c_str()) != 0)
    throw std::runtime_error("an interface `" + name + "` exists already");
  return tun::make(name, IFF_TAP);
}

void set_mac(const std::string& name, const MacAddress& mac) {
  ifreq request = tun::request_for(name);
  request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
  std::ranges::transform(mac, request.ifr_hwaddr.sa_data,
                         [](std::uint8_t b) { return static_cast<char>(b); });
  tun::configure(SIOCSIFHWADDR, request, "give " + name + " its port's MAC address");
}

void set_mtu(const std::string& name, std::uint16_t mtu) {
  ifreq request = tun::request_for(name);
  request.ifr_mtu = mtu;
  tun::configure(SIOCSIFMTU, request, "give " + name + " its port's MTU");
}

// Called before the device is up: the kernel then adds a link-local address and sends messages about it.
void behave_as_router(const std::string& name) {
  tun::ensure_setting(tun::setting_path("ipv6", name, "forwarding"), 1);
  tun::ensure_setting(tun::setting_path("ipv6", name, "accept_ra"), 0);
}

}  // namespace

TapTwin::TapTwin(const TapTwinSettings& settings)
    : name_(settings.name),
      fd_(make_tap(name_)),
      ifindex_(static_cast<int>(::if_nametoindex(name_.c_str()))) {
  set_mac(name_, settings.mac);
  set_mtu(name_, settings.mtu);
  set_carrier(false);
  behave_as_router(name_);
  tun::bring_up(name_);
}

bool TapTwin::write(std::span<const std::uint8_t> frame) {
  return ::write(fd_.get(), frame.data(), frame.size()) == static_cast<ssize_t>(frame.size());
}

std::span<const std::uint8_t> TapTwin::read(std::span<std::uint8_t> room) {
  return tun::read(fd_, room);
}

void TapTwin::set_carrier(bool up) {
  int value = up ? 1 : 0;
  if (::ioctl(fd_.get(), TUNSETCARRIER, &value) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot set the carrier of " + name_);
}

}  // namespace surety
