#include "router/linux/punt.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "router/linux/netlink_commands.h"

namespace surety {
namespace {

bool valid_name(const std::string& name) {
  return !name.empty() && name.size() < IFNAMSIZ && name != "." && name != ".." &&
         name.find_first_of("/:% \t\n") == std::string::npos;
}

std::string setting_path(const std::string& family, const std::string& device, const std::string& key) {
  return "/proc/sys/net/" + family + "/conf/" + device + "/" + key;
}

int read_setting(const std::string& path) {
  int value = -1;
  std::ifstream(path) >> value;
  return value;
}

// In a container /proc/sys is often read-only: what is already as wanted is fine.
bool ensure_setting(const std::string& path, int value) {
  if (read_setting(path) == value) return true;
  std::ofstream(path) << value << std::flush;
  return read_setting(path) == value;
}

ifreq request_for(const std::string& name) {
  ifreq request{};
  std::ranges::copy(name, request.ifr_name);
  return request;
}

Status bring_up(const std::string& name) {
  const Fd control(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!control) return failure("cannot open a socket", errno);
  ifreq request = request_for(name);
  request.ifr_flags = IFF_UP;
  if (::ioctl(control.get(), SIOCSIFFLAGS, &request) != 0)
    return failure("cannot bring " + name + " up", errno);
  return success();
}

Status set_own(const std::string& name, const std::string& key, int value) {
  const std::string path = setting_path("ipv4", name, key);
  if (!ensure_setting(path, value)) return Failure{"cannot set " + path + " to " + std::to_string(value)};
  return success();
}

// The kernel takes the larger of the device's filter and everybody's, and 2 is loose: it asks only whether
// the source is reachable at all. On a device without an address it refuses even that; 192.0.0.8 is for
// devices without (RFC 7600).
Status pass_reverse_path_filter(const std::string& name) {
  if (read_setting(setting_path("ipv4", "all", "rp_filter")) == 0) return set_own(name, "rp_filter", 0);
  if (Status s = set_own(name, "rp_filter", 2); !s) return s;
  auto commands = NetlinkCommands::open();
  if (!commands) return Failure{commands.error()};
  const config::Prefix dummy{{{192, 0, 0, 8}, false}, 32};
  const auto added = commands->add_address(static_cast<int>(::if_nametoindex(name.c_str())), dummy);
  if (!added) return Failure{name + ": " + added.error()};
  return success();
}

Status let_kernel_forward(const std::string& name) {
  if (Status s = set_own(name, "forwarding", 1); !s) return s;
  if (Status s = pass_reverse_path_filter(name); !s) return s;
  // IPv6 may be off altogether, or its kernel too old: see punt.h.
  ensure_setting(setting_path("ipv6", name, "force_forwarding"), 1);
  // No link-local address, hence no router solicitations and reports into a device that nobody reads.
  ensure_setting(setting_path("ipv6", name, "addr_gen_mode"), 1);
  return success();
}

}  // namespace

Result<PuntDevice> PuntDevice::open(const std::string& name) {
  if (!valid_name(name)) return Failure{"\"" + name + "\" is not an interface name (1 to 15 characters)"};
  Fd fd(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!fd) return failure("cannot open /dev/net/tun (modprobe tun; a container needs the device)", errno);
  ifreq request = request_for(name);
  request.ifr_flags = IFF_TUN | IFF_NO_PI | static_cast<short>(IFF_TUN_EXCL);
  if (::ioctl(fd.get(), TUNSETIFF, &request) != 0)
    return failure("cannot make the TUN device " + name, errno);
  if (Status s = let_kernel_forward(name); !s) return Failure{s.error()};
  if (Status s = bring_up(name); !s) return Failure{s.error()};
  return PuntDevice(std::move(fd), name);
}

bool PuntDevice::write(std::span<const std::uint8_t> ip_packet) {
  return ::write(fd_.get(), ip_packet.data(), ip_packet.size()) == static_cast<ssize_t>(ip_packet.size());
}

}  // namespace surety
