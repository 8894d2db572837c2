// SPDX-License-Identifier: BSD-3-Clause
// The rings of an af_packet port that it shares with the kernel (packet(7), PACKET_RX_RING): DPDK's
// net_af_packet copies each packet to or from one frame of a ring. The kernel cuts a packet that is larger
// than a frame.
//
// DPDK's default frames, 2048 bytes, are for an MTU of up to 1964. Larger ones are multiples of 16 bytes, and
// a block is whole frames and whole pages, since the driver expects frames without gaps.
#pragma once

#include <cstdint>
#include <numeric>

namespace surety::packet_ring {

inline constexpr std::uint32_t kFrames = 512, kDefaultFrame = 2048, kDefaultBlock = 4096;
// Bytes of a frame in front of the Ethernet header (the kernel's tpacket2_hdr and sockaddr_ll, aligned), and
// bytes of link headers in it: Ethernet and one VLAN tag; the kernel removes the outer tag.
inline constexpr std::uint32_t kBeforeEthernet = 66, kLinkHeaders = 14 + 4;
// Bytes of a packet buffer, behind its headroom, beyond the MTU, that net_af_packet needs for such frames.
inline constexpr std::uint32_t kBufferFraming = 80;

constexpr std::uint16_t largest_mtu(std::uint32_t frame) {
  return static_cast<std::uint16_t>(frame - kBeforeEthernet - kLinkHeaders);
}

constexpr std::uint32_t frame_bytes(std::uint16_t mtu) {
  constexpr std::uint32_t kAlignment = 16;
  if (mtu <= largest_mtu(kDefaultFrame)) return kDefaultFrame;
  return (mtu + kBeforeEthernet + kLinkHeaders + kAlignment - 1) / kAlignment * kAlignment;
}

constexpr std::uint32_t block_bytes(std::uint32_t frame) {
  return std::lcm(frame, kDefaultBlock);
}

}  // namespace surety::packet_ring
