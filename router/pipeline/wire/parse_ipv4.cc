// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/wire/parse_ipv4.h"

#include "router/pipeline/wire/dhcp.h"

namespace surety::detail {

namespace {

// Any IHL: `header` is a multiple of four.
bool checksum_valid(const std::uint8_t* ip, std::size_t header) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < header; i += 4) sum += load<std::uint32_t>(ip + i);
  return sum % 65535 == 0;
}

// RFC 791 3.1; copied flag, class and number together are the type.
bool options_pass(const std::uint8_t* ip, std::size_t header) {
  constexpr std::uint8_t kEnd = 0, kNop = 1, kLooseSourceRoute = 131, kStrictSourceRoute = 137,
                         kRouterAlert = 148;
  for (std::size_t i = 20; i < header;) {
    const std::uint8_t type = ip[i];
    if (type == kEnd) break;
    if (type == kNop) {
      ++i;
      continue;
    }
    if (i + 1 == header) return false;
    const std::size_t length = ip[i + 1];
    if (length < 2 || i + length > header) return false;
    if (type == kLooseSourceRoute || type == kStrictSourceRoute) return false;
    if (type == kRouterAlert && length != 4) return false;
    i += length;
  }
  return true;
}

DropReason check_header(const Frame& f) {
  const std::uint8_t* const ip = f.ip();
  if (f.available() < 20) return DropReason::truncated;
  if (ip[0] >> 4 != 4) return DropReason::ipv4_version;
  const std::size_t header = (ip[0] & 0xf) * std::size_t{4}, length = load_be16(ip + 2);
  if (header < 20) return DropReason::ipv4_header_length;
  if (length < 20 || length > f.available()) return DropReason::ipv4_total_length;
  if (header > length) return DropReason::ipv4_header_length;
  if (!checksum_valid(ip, header)) return DropReason::ipv4_checksum;
  return DropReason::none;
}

// A DHCP client without an address broadcasts its request from 0.0.0.0 (RFC 2131 4.1).
bool asks_for_address(const Frame& f, std::uint32_t source, std::uint32_t destination) {
  constexpr std::uint32_t kPorts = 68 << 16 | 67;
  const std::uint8_t* const ip = f.ip();
  const std::size_t header = (ip[0] & 0xf) * std::size_t{4};
  return source == 0 && ipv4::limited_broadcast(destination) && ip[9] == kUdp &&
         (load_be16(ip + 6) & 0x3fff) == 0 && f.available() >= header + 4 && load_be32(ip + header) == kPorts;
}

DropReason check_addresses(const Frame& f, std::uint32_t source, std::uint32_t destination) {
  if ((ipv4::martian_source(source) && !asks_for_address(f, source, destination)) || source == destination)
    return DropReason::ipv4_martian_source;
  if (ipv4::martian_destination(destination)) return DropReason::ipv4_martian_destination;
  if (f.to_group() && !ipv4::for_many(destination)) return DropReason::foreign_mac;
  return DropReason::none;
}

PuntReason exception(const FlowKey& key, std::uint32_t source, std::uint32_t destination) {
  if (ipv4::limited_broadcast(destination) && (dhcp::from_client(key) || dhcp::to_client(key)))
    return PuntReason::dhcp;
  if (ipv4::for_many(destination)) return PuntReason::multicast;
  if (ipv4::link_local(source) || ipv4::link_local(destination)) return PuntReason::link_local;
  return PuntReason::none;
}

DropReason check_payload(const Fragment& fragment, bool fragmented, std::uint8_t protocol,
                         const std::uint8_t* l4) {
  if (fragmented) return fragment_possible(fragment, protocol) ? DropReason::none : DropReason::fragment;
  return transport_fits(protocol, l4, fragment.payload) ? DropReason::none : DropReason::l4_truncated;
}

}  // namespace

ParseOutcome parse_ipv4_general(const Frame& f, const ParseContext& context, ParsedPacket& out) {
  if (const DropReason reason = check_header(f); reason != DropReason::none) return dropped(reason);
  const std::uint8_t* const ip = f.ip();
  const std::size_t header = (ip[0] & 0xf) * std::size_t{4}, length = load_be16(ip + 2);
  if (!options_pass(ip, header)) return dropped(DropReason::ipv4_options);

  const std::uint32_t source = load_be32(ip + 12), destination = load_be32(ip + 16);
  if (const DropReason reason = check_addresses(f, source, destination); reason != DropReason::none)
    return dropped(reason);

  const std::uint16_t place = load_be16(ip + 6);
  const bool fragmented = (place & 0x3fff) != 0;
  const std::size_t offset = (place & 0x1fff) * std::size_t{8};
  const Fragment fragment{offset, length - header, offset + length};
  const std::uint8_t protocol = ip[9];
  if (const DropReason reason = check_payload(fragment, fragmented, protocol, ip + header);
      reason != DropReason::none)
    return dropped(reason);

  out.key.rest = transport_key(context, f, fragmented, protocol, ip + header);
  out.key.address = {load<std::uint64_t>(ip + 12), 0, 0, 0};
  out.key.dscp = key_dscp(context, ip[1]);
  out.key.v6 = false;
  fill_link(f, out);
  out.length = static_cast<std::uint16_t>(length);
  out.l4_offset = static_cast<std::uint16_t>(f.l3 + header);
  out.protocol = protocol;
  out.traffic_class = ip[1];
  out.ttl = ip[8];
  out.v6 = false;
  out.fragment = fragmented;
  return punted(exception(out.key, source, destination));
}

}  // namespace surety::detail
