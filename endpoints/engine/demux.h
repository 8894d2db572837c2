// SPDX-License-Identifier: BSD-3-Clause
// Flow of a packet: transport and tuple from protocol, addresses and ports.
#pragma once

#include "endpoints/engine/engine.h"
#include "endpoints/engine/refusal.h"
#include "router/pipeline/wire/checksum.h"
#include "router/pipeline/wire/ip.h"

namespace surety::endpoints {

enum IpProtocol : std::uint8_t { kTcpProtocol = 6, kUdpProtocol = 17, kDccpProtocol = 33 };

constexpr bool is_transport(std::uint8_t protocol) {
  return protocol == kTcpProtocol || protocol == kUdpProtocol || protocol == kDccpProtocol;
}

// A UDP datagram around a DCCP packet.
// RFC 6773 3.2: the UDP checksum takes the place of DCCP's and must not be zero.
inline Refusal check_dccp_in_udp(const IpPacket& p) {
  constexpr std::size_t kUdpHeader = 8, kLeastDccp = 12;
  if (p.payload.size() < kUdpHeader) return Refusal::truncated;
  const std::size_t length = load_be16(p.payload.data() + 4);
  if (length > p.payload.size() || length < kUdpHeader) return Refusal::length;
  if (length < kUdpHeader + kLeastDccp) return Refusal::truncated;
  if (load<std::uint16_t>(p.payload.data() + 6) == 0) return Refusal::checksum;
  if (p.l4_verified) return Refusal::none;
  Sum s = pseudo_header(p.source, p.destination, kUdpProtocol, static_cast<std::uint32_t>(length));
  s.add(p.payload.first(length));
  return s.valid() ? Refusal::none : Refusal::checksum;
}

// The DCCP packet inside; check_dccp_in_udp() has passed it.
inline IpPacket without_udp(const IpPacket& p) {
  IpPacket out = p;
  out.payload = p.payload.first(load_be16(p.payload.data() + 4)).subspan(8);
  out.protocol = kDccpProtocol;
  out.udp_source = load_be16(p.payload.data());
  out.udp_destination = load_be16(p.payload.data() + 2);
  return out;
}

inline constexpr std::uint32_t kNoPort = 1 << 16;

// none: `tuple` and `transport` are set. Refusals: truncated, no_listener (of another protocol), and those of
// check_dccp_in_udp(). UDP to `dccp_udp_port` is DCCP in UDP; kNoPort: none is.
inline Refusal demux(const IpPacket& p, std::uint32_t dccp_udp_port, Tuple& tuple, Transport& transport) {
  const std::uint8_t* ports = p.payload.data();
  if (p.payload.size() < 4) return Refusal::truncated;
  switch (p.protocol) {
    case kTcpProtocol:
      transport = Transport::tcp;
      break;
    case kUdpProtocol:
      transport = Transport::udp;
      if (load_be16(ports + 2) != dccp_udp_port) break;
      if (const Refusal r = check_dccp_in_udp(p); r != Refusal::none) return r;
      transport = Transport::dccp_udp;
      ports += 8;
      break;
    case kDccpProtocol:
      transport = Transport::dccp;
      break;
    default:
      return Refusal::no_listener;
  }
  // Field by field: a tuple that is put together elsewhere and copied waits for its own stores.
  tuple.local = p.destination;
  tuple.remote = p.source;
  tuple.local_port = load_be16(ports + 2);
  tuple.remote_port = load_be16(ports);
  return Refusal::none;
}

}  // namespace surety::endpoints
