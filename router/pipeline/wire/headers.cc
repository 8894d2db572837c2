// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/wire/headers.h"

#include "config/vlan_protocol.h"
#include "router/pipeline/wire/parse_ordinary.h"

namespace surety {

namespace {

using detail::Frame, detail::kEthernetHeader, detail::kIpv4, detail::kIpv6, detail::own_mac;

enum Ethertype : std::uint16_t {
  kLastLlcLength = 1500,  // IEEE 802.3: up to here the field is a length
  kArp = 0x0806,
  kSlowProtocols = 0x8809,
  kEapol = 0x888e,
  kLldp = 0x88cc,
};

// Parses frames that are neither IPv4 nor IPv6.
ParseOutcome parse_other(const Frame& f, std::uint16_t type, ParsedPacket& out) {
  constexpr std::size_t kArpOverEthernet = 28;
  fill_link(f, out);
  if (type <= kLastLlcLength)
    return type <= f.available() ? detail::punted(PuntReason::control)
                                 : detail::dropped(DropReason::truncated);
  switch (type) {
    case kArp:
      if (f.available() < kArpOverEthernet) return detail::dropped(DropReason::truncated);
      return detail::punted(PuntReason::arp);
    case kLldp:
    case kSlowProtocols:
    case kEapol:
      return detail::punted(PuntReason::control);
    default:
      return detail::dropped(DropReason::ethertype);
  }
}

// Tags, group addresses, promiscuous ports, everything that is not IP. Complete and alone sufficient.
[[gnu::noinline]] ParseOutcome parse_link(std::span<const std::uint8_t> frame, const ParseContext& context,
                                          ParsedPacket& out) {
  if (frame.size() < kEthernetHeader) return detail::dropped(DropReason::truncated);
  Frame f{frame.data(), frame.size(), kEthernetHeader};
  const std::uint64_t destination = load<std::uint64_t>(f.bytes) << 16 >> 16;
  if (!f.to_group() && destination != own_mac(context) && !context.promiscuous)
    return detail::dropped(DropReason::foreign_mac);

  std::uint16_t type = load_be16(f.bytes + 12);
  for (int tags = 0; is_vlan_tag(type); ++tags) {
    if (tags == 2) return detail::dropped(DropReason::vlan_depth);
    if (f.available() < 4) return detail::dropped(DropReason::truncated);
    const auto id = static_cast<std::uint16_t>(load_be16(f.ip()) & 0x0fff);
    (tags == 0 ? f.vlan : f.inner_vlan) = id;
    type = load_be16(f.ip() + 2);
    f.l3 += 4;
  }
  if (type == kIpv4) return f.to_group() ? parse_ipv4_general(f, context, out) : parse_ipv4(f, context, out);
  if (type == kIpv6) return f.to_group() ? parse_ipv6_general(f, context, out) : parse_ipv6(f, context, out);
  return parse_other(f, type, out);
}

}  // namespace

ParseOutcome parse(std::span<const std::uint8_t> frame, const ParseContext& context, ParsedPacket& out) {
  if (OrdinaryParser(context)(frame.data(), frame.size(), out)) [[likely]]
    return {};
  out.interface = context.port;
  return parse_link(frame, context, out);
}

}  // namespace surety
