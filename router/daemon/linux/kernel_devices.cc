// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/kernel_devices.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "router/daemon/linux/netlink_commands.h"

namespace surety::tun {

bool valid_name(const std::string& name) {
  return !name.empty() && name.size() < IFNAMSIZ && name != "." && name != ".." &&
         name.find_first_of("/:% \t\n") == std::string::npos;
}

ifreq request_for(const std::string& name) {
  ifreq request{};
  std::ranges::copy(name, request.ifr_name);
  return request;
}

Fd make(const std::string& name, short flags) {
  if (!valid_name(name))
    throw std::runtime_error("\"" + name + "\" is not an interface name (1 to 15 characters)");
  const std::string kind = (flags & IFF_TAP) != 0 ? "TAP" : "TUN";
  Fd fd(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!fd)
    throw std::system_error(errno, std::generic_category(),
                            "cannot open /dev/net/tun (modprobe tun; a container needs the device)");
  ifreq request = request_for(name);
  request.ifr_flags = static_cast<short>(flags | IFF_NO_PI | static_cast<short>(IFF_TUN_EXCL));
  if (::ioctl(fd.get(), TUNSETIFF, &request) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot create the " + kind + " device " + name);
  return fd;
}

std::span<const std::uint8_t> read(const Fd& fd, std::span<std::uint8_t> room) {
  const ssize_t n = ::read(fd.get(), room.data(), room.size());
  return room.first(n > 0 ? static_cast<std::size_t>(n) : 0);
}

void configure(unsigned long command, ifreq& request, const std::string& what) {
  const Fd control(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!control) throw std::system_error(errno, std::generic_category(), "cannot open a socket");
  if (::ioctl(control.get(), command, &request) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot " + what);
}

void bring_up(const std::string& name) {
  ifreq request = request_for(name);
  request.ifr_flags = IFF_UP;
  configure(SIOCSIFFLAGS, request, "bring " + name + " up");
}

std::string setting_path(const std::string& family, const std::string& device, const std::string& key) {
  return "/proc/sys/net/" + family + "/conf/" + device + "/" + key;
}

int read_setting(const std::string& path) {
  int value = -1;
  std::ifstream(path) >> value;
  return value;
}

bool ensure_setting(const std::string& path, int value) {
  if (read_setting(path) == value) return true;
  std::ofstream(path) << value << std::flush;
  return read_setting(path) == value;
}

}  // namespace surety::tun

namespace surety {

namespace {

constexpr std::pair<const char*, const char*> kOff[] = {{"ipv6", "accept_ra"},
                                                        {"ipv6", "accept_redirects"},
                                                        {"ipv4", "accept_redirects"},
                                                        {"ipv4", "send_redirects"}};

}  // namespace

InterfaceSettings::InterfaceSettings(const std::string& interface)
    : index_(if_nametoindex(interface.c_str())) {
  for (const auto& [family, key] : kOff) {
    const std::string path = tun::setting_path(family, interface, key);
    const int value = tun::read_setting(path);
    if (value <= 0) continue;  // off, or no such family here
    if (tun::ensure_setting(path, 0))
      before_.push_back({family, key, value});
    else
      refused_.push_back(path);
  }
}

InterfaceSettings::~InterfaceSettings() {
  std::array<char, IF_NAMESIZE> name{};
  if (if_indextoname(index_, name.data()) == nullptr) return;
  for (const Setting& s : before_)
    if (const std::string path = tun::setting_path(s.family, name.data(), s.key);
        tun::read_setting(path) == 0)
      tun::ensure_setting(path, s.value);
}

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
  // IPv6 may be off altogether, or its kernel too old: see PuntDevice.
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

namespace {

Fd make_tap(const std::string& name) {
  if (tun::valid_name(name) && ::if_nametoindex(name.c_str()) != 0)
    throw std::runtime_error("an interface `" + name + "` exists already");
  return tun::make(name, IFF_TAP);
}

void give_mac(const std::string& name, const MacAddress& mac) {
  ifreq request = tun::request_for(name);
  request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
  std::ranges::transform(mac, request.ifr_hwaddr.sa_data,
                         [](std::uint8_t b) { return static_cast<char>(b); });
  tun::configure(SIOCSIFHWADDR, request, "give " + name + " its port's MAC address");
}

void give_mtu(const std::string& name, std::uint16_t mtu) {
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

TapMirror::TapMirror(const TapMirrorSettings& settings)
    : name_(settings.name),
      fd_(make_tap(name_)),
      ifindex_(static_cast<int>(::if_nametoindex(name_.c_str()))) {
  give_mac(name_, settings.mac);
  give_mtu(name_, settings.mtu);
  set_carrier(false);
  behave_as_router(name_);
  tun::bring_up(name_);
}

bool TapMirror::write(std::span<const std::uint8_t> frame) {
  return ::write(fd_.get(), frame.data(), frame.size()) == static_cast<ssize_t>(frame.size());
}

std::span<const std::uint8_t> TapMirror::read(std::span<std::uint8_t> room) {
  return tun::read(fd_, room);
}

void TapMirror::set_mac(const MacAddress& mac) {
  give_mac(name_, mac);
}

void TapMirror::set_mtu(std::uint16_t mtu) {
  give_mtu(name_, mtu);
}

void TapMirror::set_carrier(bool up) {
  int value = up ? 1 : 0;
  if (::ioctl(fd_.get(), TUNSETCARRIER, &value) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot set the carrier of " + name_);
}

}  // namespace surety
