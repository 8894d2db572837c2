// SPDX-License-Identifier: BSD-3-Clause
#include "router/linux/tun.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

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

Result<Fd> make(const std::string& name, short flags) {
  if (!valid_name(name)) return Failure{"\"" + name + "\" is not an interface name (1 to 15 characters)"};
  const std::string kind = (flags & IFF_TAP) != 0 ? "TAP" : "TUN";
  Fd fd(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!fd) return failure("cannot open /dev/net/tun (modprobe tun; a container needs the device)", errno);
  ifreq request = request_for(name);
  request.ifr_flags = static_cast<short>(flags | IFF_NO_PI | static_cast<short>(IFF_TUN_EXCL));
  if (::ioctl(fd.get(), TUNSETIFF, &request) != 0)
    return failure("cannot make the " + kind + " device " + name, errno);
  return fd;
}

Status configure(unsigned long command, ifreq& request, const std::string& what) {
  const Fd control(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!control) return failure("cannot open a socket", errno);
  if (::ioctl(control.get(), command, &request) != 0) return failure("cannot " + what, errno);
  return success();
}

Status bring_up(const std::string& name) {
  ifreq request = request_for(name);
  request.ifr_flags = IFF_UP;
  return configure(SIOCSIFFLAGS, request, "bring " + name + " up");
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
