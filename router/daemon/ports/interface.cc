// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/interface.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "router/process/fd.h"

namespace surety {

namespace {

bool ask(const std::string& interface, unsigned long what, ifreq& request) {
  const Fd control(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  interface.copy(request.ifr_name, IFNAMSIZ - 1);
  return ::ioctl(control.get(), what, &request) == 0;
}

}  // namespace

bool interface_up(const std::string& interface) {
  ifreq request{};
  return ask(interface, SIOCGIFFLAGS, request) && (request.ifr_flags & IFF_UP) != 0 &&
         (request.ifr_flags & IFF_RUNNING) != 0;
}

std::string driver_of(const std::string& interface) {
  ethtool_drvinfo info{};
  info.cmd = ETHTOOL_GDRVINFO;
  ifreq request{};
  request.ifr_data = reinterpret_cast<char*>(&info);
  if (!ask(interface, SIOCETHTOOL, request)) return {};
  return {info.driver, strnlen(info.driver, sizeof info.driver)};
}

unsigned mtu_of(const std::string& interface) {
  ifreq request{};
  return ask(interface, SIOCGIFMTU, request) ? static_cast<unsigned>(request.ifr_mtu) : 0;
}

bool bring_up(const std::string& interface) {
  ifreq request{};
  if (!ask(interface, SIOCGIFFLAGS, request)) return false;
  if ((request.ifr_flags & IFF_UP) != 0) return true;
  request.ifr_flags |= IFF_UP;
  return ask(interface, SIOCSIFFLAGS, request);
}

std::optional<std::uint32_t> speed_of(const std::string& interface) {
  ethtool_cmd settings{};
  settings.cmd = ETHTOOL_GSET;  // newer calls report more link modes, but the same speed
  ifreq request{};
  request.ifr_data = reinterpret_cast<char*>(&settings);
  if (!ask(interface, SIOCETHTOOL, request)) return std::nullopt;
  const std::uint32_t speed = ethtool_cmd_speed(&settings);
  return speed != 0 && speed != static_cast<std::uint32_t>(SPEED_UNKNOWN) && speed != UINT16_MAX
             ? std::optional(speed)
             : std::nullopt;
}

Channels channels_of(const std::string& interface) {
  ethtool_channels channels{};
  channels.cmd = ETHTOOL_GCHANNELS;
  ifreq request{};
  request.ifr_data = reinterpret_cast<char*>(&channels);
  if (!ask(interface, SIOCETHTOOL, request)) return {};
  return {std::max(1u, channels.rx_count + channels.combined_count), channels.combined_count > 0};
}

}  // namespace surety
