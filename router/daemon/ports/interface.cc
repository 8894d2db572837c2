// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/interface.h"

#include <linux/ethtool.h>
#include <linux/if_xdp.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>

#include "router/process/fd.h"

namespace surety {

namespace {

bool ask(const std::string& interface, unsigned long what, ifreq& request) {
  const Fd control(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  interface.copy(request.ifr_name, IFNAMSIZ - 1);
  return ::ioctl(control.get(), what, &request) == 0;
}

// ethtool(8); nullopt: the driver does not answer.
template <class Answer>
std::optional<Answer> ask_driver(const std::string& interface, std::uint32_t command) {
  Answer answer{};
  answer.cmd = command;
  ifreq request{};
  request.ifr_data = reinterpret_cast<char*>(&answer);
  return ask(interface, SIOCETHTOOL, request) ? std::optional(answer) : std::nullopt;
}

}  // namespace

bool interface_up(const std::string& interface) {
  ifreq request{};
  return ask(interface, SIOCGIFFLAGS, request) && (request.ifr_flags & IFF_UP) != 0 &&
         (request.ifr_flags & IFF_RUNNING) != 0;
}

std::string driver_of(const std::string& interface) {
  const auto info = ask_driver<ethtool_drvinfo>(interface, ETHTOOL_GDRVINFO);
  return info ? std::string(info->driver, strnlen(info->driver, sizeof info->driver)) : std::string();
}

unsigned mtu_of(const std::string& interface) {
  ifreq request{};
  return ask(interface, SIOCGIFMTU, request) ? static_cast<unsigned>(request.ifr_mtu) : 0;
}

bool set_mtu_of(const std::string& interface, unsigned mtu) {
  ifreq request{};
  request.ifr_mtu = static_cast<int>(mtu);
  return ask(interface, SIOCSIFMTU, request);
}

std::optional<InterfaceState> state_of(const std::string& interface) {
  const Fd control(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  interface.copy(request.ifr_name, IFNAMSIZ - 1);
  const auto answers = [&](unsigned long what) { return ::ioctl(control.get(), what, &request) == 0; };
  InterfaceState state;
  if (answers(SIOCGIFINDEX)) {
    state.index = request.ifr_ifindex;
    if (answers(SIOCGIFMTU)) state.mtu = static_cast<unsigned>(request.ifr_mtu);
    if (answers(SIOCGIFHWADDR)) std::memcpy(state.mac.data(), request.ifr_hwaddr.sa_data, state.mac.size());
    return state;
  }
  return errno == ENODEV ? std::optional(state) : std::nullopt;
}

bool bring_up(const std::string& interface) {
  ifreq request{};
  if (!ask(interface, SIOCGIFFLAGS, request)) return false;
  if ((request.ifr_flags & IFF_UP) != 0) return true;
  request.ifr_flags |= IFF_UP;
  return ask(interface, SIOCSIFFLAGS, request);
}

std::optional<std::uint32_t> speed_of(const std::string& interface) {
  // Newer calls report more link modes, but the same speed.
  const auto settings = ask_driver<ethtool_cmd>(interface, ETHTOOL_GSET);
  if (!settings) return std::nullopt;
  const std::uint32_t speed = ethtool_cmd_speed(&*settings);
  return speed != 0 && speed != static_cast<std::uint32_t>(SPEED_UNKNOWN) && speed != UINT16_MAX
             ? std::optional(speed)
             : std::nullopt;
}

Channels channels_of(const std::string& interface) {
  const auto channels = ask_driver<ethtool_channels>(interface, ETHTOOL_GCHANNELS);
  if (!channels) return {};
  return {std::max(1u, channels->rx_count + channels->combined_count), channels->combined_count > 0};
}

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kXdpPage = 4096;  // the smallest memory for packets that the kernel takes
constexpr int kXdpSlots = 2;
constexpr auto kXdpPatience = 2s;
constexpr auto kXdpGivenBack = 100ms;  // if probing is not possible
constexpr auto kXdpLookAgain = 1ms;

struct Unmap {
  void operator()(void* page) const { munmap(page, kXdpPage); }
};
using Page = std::unique_ptr<void, Unmap>;

bool prepare(int socket, void* page) {
  xdp_umem_reg memory{};
  memory.addr = reinterpret_cast<std::uintptr_t>(page);
  memory.len = kXdpPage;
  memory.chunk_size = kXdpPage;
  if (setsockopt(socket, SOL_XDP, XDP_UMEM_REG, &memory, sizeof memory) != 0) return false;
  for (const int ring : {XDP_UMEM_FILL_RING, XDP_UMEM_COMPLETION_RING, XDP_RX_RING})
    if (setsockopt(socket, SOL_XDP, ring, &kXdpSlots, sizeof kXdpSlots) != 0) return false;
  return true;
}

}  // namespace

XdpQueue look_at_xdp_queue(int ifindex, std::uint16_t queue) {
  void* const mapped = mmap(nullptr, kXdpPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return XdpQueue::unknown;
  const Page page(mapped);
  const Fd socket(::socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0));
  if (!socket || !prepare(socket.get(), mapped)) return XdpQueue::unknown;
  sockaddr_xdp address{};
  address.sxdp_family = AF_XDP;
  address.sxdp_ifindex = static_cast<std::uint32_t>(ifindex);
  address.sxdp_queue_id = queue;
  address.sxdp_flags = XDP_ZEROCOPY;  // checked by the kernel only if the queue is free
  if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return XdpQueue::unknown;
  if (errno == EBUSY) return XdpQueue::taken;
  return errno == EOPNOTSUPP ? XdpQueue::free : XdpQueue::unknown;
}

void wait_for_xdp_queues(const std::string& interface, std::uint16_t queues,
                         std::chrono::steady_clock::time_point closed) {
  using std::this_thread::sleep_until;
  if (driver_of(interface) != "veth") return sleep_until(closed + kXdpGivenBack);
  const int ifindex = static_cast<int>(if_nametoindex(interface.c_str()));
  for (std::uint16_t queue = 0; queue < queues;) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= closed + kXdpPatience) return;
    const XdpQueue state = look_at_xdp_queue(ifindex, queue);
    if (state == XdpQueue::unknown) return sleep_until(now + kXdpGivenBack);
    state == XdpQueue::free ? void(++queue) : sleep_until(now + kXdpLookAgain);
  }
}

}  // namespace surety
