// SPDX-License-Identifier: BSD-3-Clause
// Parses a frame into the fields that the pipeline needs, or into the reason why it is invalid.
//
// Pure functions over bytes: no mbuf, no port, no clock. Every length is checked before it is used. The
// checks in their order; the first that fails gives the reason:
//  - Ethernet: too short: truncated; unicast to another MAC address: foreign_mac, unless promiscuous; a third
//    tag: vlan_depth. VLAN 0 (a priority tag) is skipped. ARP: punt arp. LLDP, slow protocols, 802.1X and LLC
//    (spanning tree, IS-IS): punt control. All else that is not IP, including MPLS and PPPoE: ethertype.
//  - IPv4 (RFC 1812 5.2.2): version, header length, total length (padding may follow), header checksum.
//    Options: malformed or source route (RFC 7126 4.3, 4.4): ipv4_options; all others stay as they are:
//    record route and timestamp are not filled in, and router alert is no exception (RFC 6398 4.1): such
//    packets are for routers that run its protocol, and would bypass conditioners and queues.
//  - IPv6 (RFC 8200): version; payload length beyond the frame, a jumbogram, or too long for `length`:
//    ipv6_payload_length. Extension headers: hop-by-hop options not first, routing type 0 (RFC 5095), more
//    than eight, or one that ends beyond the packet: ipv6_extension.
//  - Addresses (martians.h); source equal to destination is a martian source too. A packet to one destination
//    in a link-layer multicast or broadcast must not be forwarded (RFC 1812 5.3.4): foreign_mac.
//  - Fragments: empty, ending beyond 65535, a first one with less than 16 bytes of TCP or 8 of UDP, or TCP at
//    offset 8 (RFC 1858, RFC 3128): fragment. IPv6 atomic fragments (RFC 6946) are whole packets.
//  - Transport: the headers of TCP, UDP, DCCP, SCTP and ICMP and their lengths lie within the packet, else
//    l4_truncated. A router does not verify their checksums, and does not check other protocols.
// Valid packets that are not for the fast path are punted: neighbour discovery (hop limit 255, RFC 4861 7.1),
// DHCP of the link (dhcp.h), multicast and limited broadcast, link-local addresses (RFC 3927 7, RFC 4291
// 2.5.6), in that order; neighbour discovery with invalid addresses: link_local. Ingress::keep_on_link()
// decides which of these are for this router and which are dropped. TTL is read here and checked by the route
// stage. The FIB identifies the router's own addresses.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "conditioners/counter_table.h"
#include "conditioners/drop_reason.h"
#include "config/address.h"
#include "router/pipeline/wire/rewrite.h"

namespace surety {

// Why a packet leaves the fast path: the control thread deals with it, or the kernel does.
// The name is the metric label.
// clang-format off
#define SURETY_PUNT_REASONS(X)                                                        \
  X(arp,        "ARP")                                                                \
  X(local,      "for one of the router's own addresses")                              \
  X(multicast,  "multicast or broadcast, such as routing protocols")                  \
  X(neighbor_discovery, "IPv6 neighbor discovery")                                    \
  X(dhcp,       "DHCP between a client and a server or relay of its link")            \
  X(link_local, "link-local scope, IPv4 or IPv6")                                     \
  X(control,    "slow protocols, LLDP and other frames for the kernel")               \
  X(ttl,        "TTL or hop limit used up: its sender gets an ICMP error")            \
  X(mtu,        "larger than the egress MTU: its sender gets an ICMP error")          \
  X(neighbor,   "next hop not resolved: held until it answers")
// clang-format on
SURETY_RESULTS(PuntReason, SURETY_PUNT_REASONS)

inline constexpr std::size_t kMaxPorts = 32;  // 5 bits of the flow key

// The key of a flow, exact, built in registers. `rest` holds, from the top: class 3 bits, ingress port 5,
// outer VLAN 12, inner VLAN 12, then source and destination port (network order, as loaded). For protocols
// without ports and for every fragment, including first ones so that a datagram stays one flow, the protocol
// number replaces the ports.
struct FlowKey {
  // `shared` is of flow_table.h.
  enum class Class : std::uint8_t { other, tcp, udp, dccp, sctp, fragment, shared };
  std::uint64_t rest = 0;
  // Addresses as loaded. IPv4: [0] = source | destination << 32; IPv6: source, destination.
  std::array<std::uint64_t, 4> address{};
  std::uint8_t dscp = 0;  // set only if a rule matches it, else 0; with `v6` the low half of a word
  bool v6 = false;
  friend bool operator==(const FlowKey&, const FlowKey&) = default;
};

inline IpAddress source_of(const FlowKey& key) {
  if (!key.v6) return IpAddress::v4(static_cast<std::uint32_t>(key.address[0]));
  return {key.address[0], key.address[1]};
}
inline IpAddress destination_of(const FlowKey& key) {
  if (!key.v6) return IpAddress::v4(static_cast<std::uint32_t>(key.address[0] >> 32));
  return {key.address[2], key.address[3]};
}

struct alignas(64) ParsedPacket {  // a cache line
  FlowKey key;
  // The 16 bytes from here are written by the fast path as two words (parse_frame.h).
  std::uint16_t length = 0;  // bytes of the IP packet; the frame may be longer (padding)
  std::uint16_t vlan = 0, inner_vlan = 0;
  std::uint16_t l4_offset = 0;     // from the start of the frame, behind options and extension headers
  std::uint8_t l3_offset = 0;      // 14, 18 or 22
  std::uint8_t protocol = 0;       // at l4_offset; IPv6 fragments: the fragment header's
  std::uint8_t traffic_class = 0;  // DSCP << 2 | ECN
  std::uint8_t ttl = 0;            // TTL or hop limit
  bool v6 = false;
  bool fragment = false;  // any fragment, the first included
  // Untagged: the port. With tags the interface finder sets it (router/pipeline/interfaces/).
  std::uint16_t interface = 0;
};
static_assert(sizeof(ParsedPacket) == 64);

// Parameters of a port.
struct ParseContext {
  MacAddress mac{};          // the port's own
  std::uint8_t port = 0;     // ingress port index, below kMaxPorts
  bool match_dscp = false;   // a rule matches the DSCP: it becomes part of the key
  bool promiscuous = false;  // take frames for any MAC
};

struct ParseOutcome {
  DropReason drop = DropReason::none;
  PuntReason punt = PuntReason::none;
  bool forwards() const { return drop == DropReason::none && punt == PuntReason::none; }
};

// Parses and validates one frame. Reads only bytes [0, frame.size()), and never writes to them. `out` is
// complete when the packet is forwarded or punted; for ARP and control frames only VLANs and l3_offset are.
// Unspecified on a drop.
ParseOutcome parse(std::span<const std::uint8_t> frame, const ParseContext& context, ParsedPacket& out);

}  // namespace surety
