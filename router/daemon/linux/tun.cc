// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/tun.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <stdexcept>
#include <system_error>

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
