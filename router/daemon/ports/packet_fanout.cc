// SPDX-License-Identifier: BSD-3-Clause
// setsockopt() of this program: the C library's, except that no packet socket has the kernel reassemble IPv4
// fragments.
//
// DPDK's net_af_packet puts the sockets of a port, also a single one, into a group by which the kernel
// distributes packets (PACKET_FANOUT), and always sets PACKET_FANOUT_FLAG_DEFRAG. The kernel then
// reassembles fragments, and cuts the datagram to a frame of the ring (packet_ring.h): the router got
// truncated packets instead of fragments, and dropped them. The driver has no argument for it. A definition
// in the program takes precedence over the C library's, for the driver's shared object too.
//
// Without the flag the kernel distributes all fragments of a datagram alike, by their addresses.
#include <linux/if_packet.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

namespace {

int request(int socket, int level, int option, const void* value, socklen_t size) {
  return static_cast<int>(::syscall(SYS_setsockopt, socket, level, option, value, size));
}

}  // namespace

extern "C" [[gnu::used, gnu::visibility("default")]] int setsockopt(int socket, int level, int option,
                                                                    const void* value,
                                                                    socklen_t size) noexcept {
  constexpr unsigned kDefragment = unsigned{PACKET_FANOUT_FLAG_DEFRAG} << 16;
  unsigned mode = 0;  // id of the group, and 16 bits of type and flags
  if (level != SOL_PACKET || option != PACKET_FANOUT || size != sizeof mode)
    return request(socket, level, option, value, size);
  std::memcpy(&mode, value, sizeof mode);
  mode &= ~kDefragment;
  return request(socket, level, option, &mode, sizeof mode);
}
