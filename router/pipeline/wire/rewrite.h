// SPDX-License-Identifier: BSD-3-Clause
// In-place rewriting of IP headers that have passed parse(): a few instructions each, hence inline.
//
// The IPv4 checksum follows by RFC 1624 eqn. 3, HC' = ~(~HC + ~m + m'), which holds for every valid header,
// those that carry 0xffff where 0x0000 is meant included; the result is what computing it from scratch gives.
#pragma once

#include <cstddef>
#include <cstdint>

#include "router/pipeline/wire/bytes.h"

namespace surety {

namespace detail {

// Replaces the 16-bit word at `offset`, given as loaded: one's complement sums do not care
// for byte order (RFC 1071).
inline void replace_ipv4_word(std::uint8_t* ip, std::size_t offset, std::uint16_t word) {
  const std::uint32_t checksum = load<std::uint16_t>(ip + 10), old = load<std::uint16_t>(ip + offset);
  std::uint32_t sum = (checksum ^ 0xffff) + (old ^ 0xffff) + word;
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  store(ip + offset, word);
  store(ip + 10, static_cast<std::uint16_t>(~sum));
}

// Takes one from the TTL, which is at least 2; `sum`: ~m + m' of other words that have changed. The TTL's own
// ~m + m' is 0xfffe, whatever it is. Its word and the checksum are one load and one store.
inline void replace_ttl(std::uint8_t* ip, std::uint32_t sum) {
  const std::uint32_t words = load<std::uint32_t>(ip + 8);
  sum += (words >> 16 ^ 0xffff) + 0xfffe;
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  store(ip + 8, ((words - 1) & 0xffff) | ~sum << 16);
}

// Version, traffic class and the flow label's first bits, in host order.
inline void replace_ipv6_word(std::uint8_t* ip, unsigned keep, unsigned set) {
  store(ip, swap16(static_cast<std::uint16_t>((load_be16(ip) & keep) | set)));
}

}  // namespace detail

// Sets the DSCP (0..63), keeps the two ECN bits (RFC 2474, RFC 3168).
inline void set_dscp(std::uint8_t* ip, bool v6, std::uint8_t dscp) {
  if (v6) return detail::replace_ipv6_word(ip, 0xf03f, static_cast<unsigned>(dscp) << 6);
  const unsigned word = load<std::uint16_t>(ip);  // version and IHL in the low byte, as loaded
  detail::replace_ipv4_word(ip, 0,
                            static_cast<std::uint16_t>((word & 0x03ff) | static_cast<unsigned>(dscp) << 10));
}

// Sets the ECN field to CE (11).
inline void set_ce(std::uint8_t* ip, bool v6) {
  if (v6) return detail::replace_ipv6_word(ip, 0xffff, 0x0030);
  detail::replace_ipv4_word(ip, 0, static_cast<std::uint16_t>(load<std::uint16_t>(ip) | 0x0300));
}

// Takes one from TTL or hop limit, which must be above 1.
inline void decrement_ttl(std::uint8_t* ip, bool v6) {
  if (v6) {
    --ip[7];
  } else {
    detail::replace_ttl(ip, 0);
  }
}

// Sets the DSCP and decrements the TTL at once, with one update of the checksum.
inline void set_dscp_and_decrement_ttl(std::uint8_t* ip, bool v6, std::uint8_t dscp) {
  if (v6) {
    set_dscp(ip, true, dscp);
    --ip[7];
    return;
  }
  const std::uint32_t old = load<std::uint16_t>(ip);
  const std::uint32_t word = (old & 0x03ff) | static_cast<std::uint32_t>(dscp) << 10;
  store(ip, static_cast<std::uint16_t>(word));
  detail::replace_ttl(ip, (old ^ 0xffff) + word);
}

inline bool ecn_capable(std::uint8_t traffic_class) {
  return (traffic_class & 3) != 0;
}

}  // namespace surety
