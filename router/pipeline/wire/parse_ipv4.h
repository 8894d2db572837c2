// SPDX-License-Identifier: BSD-3-Clause
// IPv4: one straight line for the ordinary packet, everything else out of line.
#pragma once

#include "router/pipeline/wire/martians.h"
#include "router/pipeline/wire/parse_frame.h"

namespace surety::detail {

// Complete and alone sufficient: names every reason. `f.ip()` need not hold a whole header.
[[gnu::noinline]] ParseOutcome parse_ipv4_general(const Frame& f, const ParseContext& context,
                                                  ParsedPacket& out);

// True if the words of a 20-byte header, version included, sum up to a multiple of 65535: 2^64 = 1 (mod
// 65535), so adding with the carry put back keeps the remainder, whatever the byte order (RFC 1071).
inline bool ipv4_checksum_valid(std::uint64_t a, std::uint64_t b, std::uint32_t c) {
  std::uint64_t sum;
  sum = a + b;
  sum += sum < b;
  sum += c;
  sum += sum < c;
  // sum % 65535 == 0 in one multiplication: by the inverse of 65535 (mod 2^64), which maps its multiples, and
  // nothing else, to their quotients.
  constexpr std::uint64_t kInverse = 0xfffe'fffe'fffe'ffff, kMostQuotient = 0x0001'0001'0001'0001;
  static_assert(kInverse * 65535 == 1 && kMostQuotient * 65535 == ~std::uint64_t{0});
  return sum * kInverse <= kMostQuotient;
}

// IHL 5, no fragment, TCP or UDP, ordinary addresses, of a unicast frame: true, and `out` is complete.
// parse_ipv4_general() handles all others.
[[gnu::always_inline]] inline bool ordinary_ipv4(const Frame& f, const KeyTerms& terms, ParsedPacket& out) {
  if (f.available() < 20) [[unlikely]]
    return false;
  const std::uint8_t* const ip = f.ip();
  const auto first = load<std::uint64_t>(ip), second = load<std::uint64_t>(ip + 8);
  const auto addresses = load<std::uint64_t>(ip + 12);
  const std::size_t length = load_be16(ip + 2);
  const auto protocol = static_cast<std::uint8_t>(second >> 8);
  const bool tcp = protocol == kTcp;

  constexpr std::uint64_t kShape = 0xff3f'0000'0000'00ff;  // version and IHL, MF and fragment offset
  const bool ordinary = (first & kShape) == 0x45 && (tcp || protocol == kUdp) && length >= 20 &&
                        length <= f.available() &&
                        ipv4_checksum_valid(first, second, static_cast<std::uint32_t>(addresses >> 32)) &&
                        (ipv4::kOrdinary[addresses & 0xff] & ipv4::kOrdinary[addresses >> 32 & 0xff]) != 0 &&
                        static_cast<std::uint32_t>(addresses) != addresses >> 32;
  if (!ordinary || !tcp_or_udp_fits(tcp, ip + 20, length - 20)) [[unlikely]]
    return false;

  out.key.rest =
      key_rest(tcp ? FlowKey::Class::tcp : FlowKey::Class::udp, terms, f, load<std::uint32_t>(ip + 20));
  out.key.address = {addresses, 0, 0, 0};
  fill_words(terms, f, false, length, f.l3 + 20, protocol, first >> 8 & 0xff, second & 0xff, out);
  return true;
}

inline ParseOutcome parse_ipv4(const Frame& f, const ParseContext& context, ParsedPacket& out) {
  return ordinary_ipv4(f, context, out) ? ParseOutcome{} : parse_ipv4_general(f, context, out);
}

}  // namespace surety::detail
