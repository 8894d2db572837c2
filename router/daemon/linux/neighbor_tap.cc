// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/neighbor_tap.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>

namespace surety {
namespace {

constexpr std::uint32_t ancillary(std::uint32_t field) {
  return static_cast<std::uint32_t>(SKF_AD_OFF) + field;
}

// Frames to this host, untagged, that are neighbour discovery where they are IPv6. A jump counts the
// instructions that it leaves out.
constexpr std::array<sock_filter, 13> kFilter{{
    BPF_STMT(BPF_LD | BPF_B | BPF_ABS, ancillary(SKF_AD_VLAN_TAG_PRESENT)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 9),
    BPF_STMT(BPF_LD | BPF_B | BPF_ABS, ancillary(SKF_AD_PKTTYPE)),
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, PACKET_OTHERHOST, 7, 0),
    BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 12),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_ARP, 6, 0),
    BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 14 + 6),  // next header
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 58, 0, 3),
    BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 14 + 40),  // type
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 135, 2, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 136, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, 0),
    BPF_STMT(BPF_RET | BPF_K, 0xffff),
}};

Fd open(int ifindex, std::uint16_t protocol) {
  // No protocol until the filter is attached: nothing is received unfiltered.
  Fd fd(::socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sock_fprog program{static_cast<unsigned short>(kFilter.size()), const_cast<sock_filter*>(kFilter.data())};
  sockaddr_ll where{};
  where.sll_family = AF_PACKET;
  where.sll_protocol = htons(protocol);
  where.sll_ifindex = ifindex;
  if (!fd || ::setsockopt(fd.get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) != 0 ||
      ::bind(fd.get(), reinterpret_cast<sockaddr*>(&where), sizeof(where)) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot listen for ARP and neighbor discovery");
  return fd;
}

}  // namespace

// A socket for each protocol: one for all of them would look at every frame that is transit.
NeighborTap::NeighborTap(int ifindex) : fds_{open(ifindex, ETH_P_ARP), open(ifindex, ETH_P_IPV6)} {}

std::span<const std::uint8_t> NeighborTap::read(std::span<std::uint8_t> room) {
  for (const Fd& fd : fds_)
    if (const ssize_t n = ::recv(fd.get(), room.data(), room.size(), 0); n > 0)
      return room.first(static_cast<std::size_t>(n));
  return {};
}

}  // namespace surety
