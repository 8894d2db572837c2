// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/wire/parse_ipv6.h"

#include "router/pipeline/wire/dhcp.h"

namespace surety::detail {

namespace {

// The result of walking the extension headers.
struct Chain {
  DropReason drop = DropReason::none;
  std::uint8_t protocol = 0;
  std::size_t l4 = 40;  // from the start of the IPv6 header
  bool fragmented = false;
  Fragment fragment;
};

Chain refused() {
  Chain chain;
  chain.drop = DropReason::ipv6_extension;
  return chain;
}

constexpr bool is_extension(std::uint8_t protocol) {
  return protocol == kHopByHop || protocol == kRouting || protocol == kFragment ||
         protocol == kAuthentication || protocol == kDestinationOptions;
}

constexpr std::size_t extension_length(std::uint8_t protocol, std::uint8_t field) {
  if (protocol == kFragment) return 8;
  return protocol == kAuthentication ? (field + std::size_t{2}) * 4 : (field + std::size_t{1}) * 8;
}

// RFC 8200 4.2, 4.3. Options that are unknown here are passed over: a router need not act on them.
void walk_hop_by_hop(const std::uint8_t* header, std::size_t length, Chain& chain) {
  constexpr std::uint8_t kPad1 = 0, kJumbo = 0xc2;
  for (std::size_t i = 2; i < length;) {
    if (header[i] == kPad1) {
      ++i;
      continue;
    }
    if (i + 1 == length || i + 2 + header[i + 1] > length) {
      chain.drop = DropReason::ipv6_extension;
      return;
    }
    if (header[i] == kJumbo) {
      chain.drop = DropReason::ipv6_payload_length;
      return;
    }
    i += std::size_t{2} + header[i + 1];
  }
}

void read_fragment(const std::uint8_t* header, std::size_t length, Chain& chain) {
  const std::uint16_t place = load_be16(header + 2);
  const std::size_t offset = place & 0xfff8u;
  chain.fragmented = offset != 0 || (place & 1) != 0;
  // The reassembled datagram has no fragment header, and its payload length does not count the fixed header.
  chain.fragment = {offset, length - chain.l4, offset + length - 40 - 8};
}

// `length` is that of the IPv6 packet. Ends at the transport header, or behind the fragment header of a
// fragment: the result must be the same for all fragments of a datagram, which are one flow.
Chain walk_extensions(const std::uint8_t* ip, std::size_t length) {
  constexpr int kMaxHeaders = 8;
  Chain chain;
  chain.protocol = ip[6];
  for (int headers = 0; is_extension(chain.protocol) && !chain.fragmented; ++headers) {
    const std::uint8_t* const header = ip + chain.l4;
    const bool misplaced = chain.protocol == kHopByHop && chain.l4 != 40;
    if (headers == kMaxHeaders || misplaced || length - chain.l4 < 8) return refused();
    const std::size_t size = extension_length(chain.protocol, header[1]);
    if (size > length - chain.l4) return refused();
    if (chain.protocol == kRouting && header[2] == 0) return refused();
    chain.l4 += size;
    if (chain.protocol == kHopByHop) walk_hop_by_hop(header, size, chain);
    if (chain.drop != DropReason::none) return chain;
    if (chain.protocol == kFragment) read_fragment(header, length, chain);
    chain.protocol = header[0];
  }
  return chain;
}

// RFC 4861: solicitations, advertisements and redirects never pass a router,
// so they arrive with hop limit 255.
bool is_neighbor_discovery(const std::uint8_t* ip, const Chain& chain) {
  const std::uint8_t type = ip[chain.l4];
  return chain.protocol == kIcmp6 && ip[7] == 255 && type >= 133 && type <= 137;
}

// The addresses that a message of neighbour discovery may have (RFC 4861 6.1, 7.1, 8.1): any other is forged.
bool discovery_possible(std::uint8_t type, const ipv6::Address& source, const ipv6::Address& destination) {
  constexpr std::uint8_t kRouterSolicitation = 133, kRouterAdvertisement = 134, kNeighborSolicitation = 135,
                         kRedirect = 137;
  const bool group = ipv6::multicast(destination);
  if (group && !ipv6::multicast_of_link(destination)) return false;
  if (ipv6::unspecified(source))
    return group && (type == kRouterSolicitation || type == kNeighborSolicitation);
  if (type == kRedirect) return ipv6::link_local(source) && !group;
  return type != kRouterAdvertisement || ipv6::link_local(source);
}

DropReason check_header(const Frame& f) {
  const std::uint8_t* const ip = f.ip();
  if (f.available() < 40) return DropReason::truncated;
  if (ip[0] >> 4 != 6) return DropReason::ipv6_version;
  const std::size_t payload = load_be16(ip + 4);
  const bool jumbogram = payload == 0 && ip[6] == kHopByHop;
  if (jumbogram || payload + 40 > f.available() || payload + 40 > 65535)
    return DropReason::ipv6_payload_length;
  return DropReason::none;
}

DropReason check_addresses(const Frame& f, const ipv6::Address& source, const ipv6::Address& destination,
                           bool neighbor_discovery) {
  const bool solicits_itself =
      neighbor_discovery && ipv6::unspecified(source);  // duplicate address detection
  if ((ipv6::martian_source(source) && !solicits_itself) || source == destination)
    return DropReason::ipv6_martian_source;
  if (ipv6::martian_destination(destination)) return DropReason::ipv6_martian_destination;
  if (f.to_group() && !ipv6::multicast(destination)) return DropReason::foreign_mac;
  return DropReason::none;
}

DropReason check_payload(const Chain& chain, const std::uint8_t* ip, std::size_t length) {
  if (chain.fragmented)
    return fragment_possible(chain.fragment, chain.protocol) ? DropReason::none : DropReason::fragment;
  return transport_fits(chain.protocol, ip + chain.l4, length - chain.l4) ? DropReason::none
                                                                          : DropReason::l4_truncated;
}

// DHCPv6 between a client and the servers and relays of its link (RFC 8415 7.1, 14.1).
bool is_dhcp(const FlowKey& key, const ipv6::Address& source, const ipv6::Address& destination) {
  constexpr ipv6::Address kAgentsAndServers{0xff02'0000'0000'0000, 0x1'0002};
  if (!ipv6::link_local(source)) return false;
  if (dhcp::from_client(key)) return destination == kAgentsAndServers || ipv6::link_local(destination);
  return dhcp::to_client(key) && ipv6::link_local(destination);
}

PuntReason exception(bool neighbor_discovery, const FlowKey& key, const ipv6::Address& source,
                     const ipv6::Address& destination) {
  if (neighbor_discovery) return PuntReason::neighbor_discovery;
  if (is_dhcp(key, source, destination)) return PuntReason::dhcp;
  if (ipv6::multicast(destination)) return PuntReason::multicast;
  if (ipv6::link_local(source) || ipv6::link_local(destination)) return PuntReason::link_local;
  return PuntReason::none;
}

}  // namespace

ParseOutcome parse_ipv6_general(const Frame& f, const ParseContext& context, ParsedPacket& out) {
  if (const DropReason reason = check_header(f); reason != DropReason::none) return dropped(reason);
  const std::uint8_t* const ip = f.ip();
  const std::size_t length = load_be16(ip + 4) + std::size_t{40};
  const Chain chain = walk_extensions(ip, length);
  if (chain.drop != DropReason::none) return dropped(chain.drop);

  const ipv6::Address source{load_be64(ip + 8), load_be64(ip + 16)};
  const ipv6::Address destination{load_be64(ip + 24), load_be64(ip + 32)};
  const bool discovery = !chain.fragmented && chain.l4 < length && is_neighbor_discovery(ip, chain);
  if (const DropReason reason = check_addresses(f, source, destination, discovery);
      reason != DropReason::none)
    return dropped(reason);
  if (discovery && !discovery_possible(ip[chain.l4], source, destination))
    return dropped(DropReason::link_local);
  if (const DropReason reason = check_payload(chain, ip, length); reason != DropReason::none)
    return dropped(reason);

  out.key.rest = transport_key(context, f, chain.fragmented, chain.protocol, ip + chain.l4);
  out.key.address = key_addresses(ip);
  out.traffic_class = static_cast<std::uint8_t>(load_be16(ip) >> 4);
  out.key.dscp = key_dscp(context, out.traffic_class);
  out.key.v6 = true;
  fill_link(f, out);
  out.length = static_cast<std::uint16_t>(length);
  out.l4_offset = static_cast<std::uint16_t>(f.l3 + chain.l4);
  out.protocol = chain.protocol;
  out.ttl = ip[7];
  out.v6 = true;
  out.fragment = chain.fragmented;
  return punted(exception(discovery, out.key, source, destination));
}

}  // namespace surety::detail
