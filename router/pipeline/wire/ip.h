// SPDX-License-Identifier: BSD-3-Clause
// An endpoint's view of an IP packet, for IPv4 and IPv6.
//
// An IpPacket is a view over real bytes that have passed parse() of router/pipeline/wire/headers.h: lengths
// are checked, it is not a fragment. endpoints::Transport checksums are the protocol's business (they need
// the pseudo header), except where `l4_verified` says that hardware has done it.
#pragma once

#include <cstdint>
#include <span>

#include "config/address.h"
#include "router/pipeline/wire/headers.h"

namespace surety {

// Both ends of a flow, from the local one; ports in host order. For dccp_udp these are the DCCP ports.
struct Tuple {
  IpAddress local, remote;
  std::uint16_t local_port = 0, remote_port = 0;
  friend bool operator==(const Tuple&, const Tuple&) = default;
};

struct IpPacket {
  IpAddress source, destination;
  std::span<const std::uint8_t> payload;  // the transport header and what follows; without link padding
  std::uint16_t length = 0;               // bytes of the whole IP packet, as counted by rates
  std::uint8_t protocol = 0;              // IANA number
  std::uint8_t traffic_class = 0;         // DSCP << 2 | ECN
  bool l4_verified = false;               // the transport checksum is known to be good
  // The outer UDP ports (host order) of DCCP in UDP, whose `payload` is the DCCP packet; else zero.
  std::uint16_t udp_source = 0, udp_destination = 0;

  std::uint8_t dscp() const { return traffic_class >> 2; }
};

// The view of a frame that parse() lets through as an ordinary or `local` packet.
inline IpPacket ip_packet(std::span<const std::uint8_t> frame, const ParsedPacket& p) {
  const std::uint8_t* const ip = frame.data() + p.l3_offset;
  IpPacket out;
  if (p.v6) {
    out.source = IpAddress::v6(ip + 8);
    out.destination = IpAddress::v6(ip + 24);
  } else {
    out.source = IpAddress::v4(load<std::uint32_t>(ip + 12));
    out.destination = IpAddress::v4(load<std::uint32_t>(ip + 16));
  }
  out.payload = frame.subspan(p.l4_offset, static_cast<std::size_t>(p.l3_offset + p.length - p.l4_offset));
  out.length = p.length;
  out.protocol = p.protocol;
  out.traffic_class = p.traffic_class;
  return out;
}

}  // namespace surety
