// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/xdp_queue.h"

#include <linux/if_xdp.h>
#include <net/if.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <thread>

#include "router/daemon/ports/interface.h"
#include "router/process/fd.h"

namespace surety {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kPage = 4096;  // the smallest memory for packets that the kernel takes
constexpr int kSlots = 2;
constexpr auto kPatience = 2s;
constexpr auto kGivenBack = 100ms;  // if probing is not possible
constexpr auto kLookAgain = 1ms;

struct Unmap {
  void operator()(void* page) const { munmap(page, kPage); }
};
using Page = std::unique_ptr<void, Unmap>;

bool prepare(int socket, void* page) {
  xdp_umem_reg memory{};
  memory.addr = reinterpret_cast<std::uintptr_t>(page);
  memory.len = kPage;
  memory.chunk_size = kPage;
  if (setsockopt(socket, SOL_XDP, XDP_UMEM_REG, &memory, sizeof memory) != 0) return false;
  for (const int ring : {XDP_UMEM_FILL_RING, XDP_UMEM_COMPLETION_RING, XDP_RX_RING})
    if (setsockopt(socket, SOL_XDP, ring, &kSlots, sizeof kSlots) != 0) return false;
  return true;
}

}  // namespace

XdpQueue look_at_xdp_queue(int ifindex, std::uint16_t queue) {
  void* const mapped = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
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
  if (driver_of(interface) != "veth") return sleep_until(closed + kGivenBack);
  const int ifindex = static_cast<int>(if_nametoindex(interface.c_str()));
  for (std::uint16_t queue = 0; queue < queues;) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= closed + kPatience) return;
    const XdpQueue state = look_at_xdp_queue(ifindex, queue);
    if (state == XdpQueue::unknown) return sleep_until(now + kGivenBack);
    state == XdpQueue::free ? void(++queue) : sleep_until(now + kLookAgain);
  }
}

}  // namespace surety
