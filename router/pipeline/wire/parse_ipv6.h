// SPDX-License-Identifier: BSD-3-Clause
// IPv6: one straight line for the ordinary packet, everything else out of line.
#pragma once

#include "router/pipeline/wire/martians.h"
#include "router/pipeline/wire/parse_frame.h"

namespace surety::detail {

// Complete and alone sufficient: names every reason. `f.ip()` need not hold a whole header.
[[gnu::noinline]] ParseOutcome parse_ipv6_general(const Frame& f, const ParseContext& context,
                                                  ParsedPacket& out);

inline bool same_address(const std::uint8_t* a, const std::uint8_t* b) {
  return ((load<std::uint64_t>(a) ^ load<std::uint64_t>(b)) |
          (load<std::uint64_t>(a + 8) ^ load<std::uint64_t>(b + 8))) == 0;
}

// Source, then destination, as loaded.
inline std::array<std::uint64_t, 4> key_addresses(const std::uint8_t* ip) {
  return {load<std::uint64_t>(ip + 8), load<std::uint64_t>(ip + 16), load<std::uint64_t>(ip + 24),
          load<std::uint64_t>(ip + 32)};
}

// TCP or UDP right behind the fixed header, ordinary addresses, of a unicast frame: true, and `out` is
// complete. All else is parse_ipv6_general()'s.
[[gnu::always_inline]] inline bool ordinary_ipv6(const Frame& f, const KeyTerms& terms, ParsedPacket& out) {
  if (f.available() < 40) [[unlikely]]
    return false;
  const std::uint8_t* const ip = f.ip();
  const auto first = load<std::uint64_t>(ip);
  const std::size_t payload = load_be16(ip + 4);
  const auto protocol = static_cast<std::uint8_t>(first >> 48);
  const bool tcp = protocol == kTcp;

  const bool ordinary = (first & 0xf0) == 0x60 && (tcp || protocol == kUdp) &&
                        payload + 40 <= f.available() && payload + 40 <= 65535 && ipv6::ordinary(ip[8]) &&
                        ipv6::ordinary(ip[24]) && !same_address(ip + 8, ip + 24);
  if (!ordinary || !tcp_or_udp_fits(tcp, ip + 40, payload)) [[unlikely]]
    return false;

  const std::uint64_t traffic_class = swap16(static_cast<std::uint16_t>(first)) >> 4 & 0xff;
  out.key.rest =
      key_rest(tcp ? FlowKey::Class::tcp : FlowKey::Class::udp, terms, f, load<std::uint32_t>(ip + 40));
  out.key.address = key_addresses(ip);
  fill_words(terms, f, true, payload + 40, f.l3 + 40, protocol, traffic_class, first >> 56, out);
  return true;
}

inline ParseOutcome parse_ipv6(const Frame& f, const ParseContext& context, ParsedPacket& out) {
  return ordinary_ipv6(f, context, out) ? ParseOutcome{} : parse_ipv6_general(f, context, out);
}

}  // namespace surety::detail
