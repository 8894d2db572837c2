// SPDX-License-Identifier: BSD-3-Clause
// Crafted frames for tests: headers as octet strings, joined with +. Defaults make a packet that is
// forwarded; tests change the one thing that they are about.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "config/address.h"

namespace surety::frames {

using Octets = std::vector<std::uint8_t>;

inline constexpr MacAddress kOurMac{0x02, 0, 0, 0, 0, 0x01}, kTheirMac{0x02, 0, 0, 0, 0, 0x99};
inline constexpr MacAddress kBroadcast{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, kGroupMac{0x01, 0, 0x5e, 0, 0, 5};
inline constexpr std::uint16_t kIpv4 = 0x0800, kArp = 0x0806, kIpv6 = 0x86dd;

inline Octets operator+(Octets a, const Octets& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
inline Octets zeros(std::size_t n) {
  return Octets(n);
}
inline Octets pad(Octets a, std::size_t size) {
  if (a.size() < size) a.resize(size);
  return a;
}
inline std::uint8_t high(std::size_t v) {
  return static_cast<std::uint8_t>(v >> 8);
}
inline std::uint8_t low(std::size_t v) {
  return static_cast<std::uint8_t>(v);
}
inline Octets be16(std::size_t v) {
  return {high(v), low(v)};
}
inline Octets be32(std::uint32_t v) {
  return be16(v >> 16) + be16(v & 0xffff);
}

inline Octets ethernet(std::uint16_t type, const MacAddress& to = kOurMac) {
  return Octets(to.begin(), to.end()) + Octets(kTheirMac.begin(), kTheirMac.end()) + be16(type);
}
inline Octets vlan(unsigned tci, std::uint16_t type) {
  return be16(tci) + be16(type);
}

// RFC 1071, from scratch: the reference that products are compared with.
inline std::uint16_t checksum(const std::uint8_t* p, std::size_t n) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < n; i += 2) sum += static_cast<std::uint32_t>(p[i] << 8 | p[i + 1]);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum & 0xffff);
}
inline void fix_checksum(std::uint8_t* ip) {
  ip[10] = ip[11] = 0;
  const std::uint16_t sum = checksum(ip, (ip[0] & 0xfu) * std::size_t{4});
  ip[10] = high(sum);
  ip[11] = low(sum);
}

struct V4 {
  std::uint32_t source = 0x0a010001, destination = 0x0a020001;
  std::uint16_t place = 0x4000;  // flags and fragment offset; DF
  std::uint8_t tos = 0, ttl = 64;
  Octets options{};  // a multiple of four
};
inline Octets ip4(std::uint8_t protocol, const Octets& payload, const V4& h = {}) {
  const std::size_t header = 20 + h.options.size();
  Octets ip = Octets{static_cast<std::uint8_t>(0x40 | header / 4), h.tos} + be16(header + payload.size()) +
              be16(0x1234) + be16(h.place) + Octets{h.ttl, protocol, 0, 0} + be32(h.source) +
              be32(h.destination) + h.options;
  fix_checksum(ip.data());
  return ip + payload;
}

using Address6 = std::array<std::uint8_t, 16>;
inline constexpr Address6 kSource6{0x20, 1, 0xd, 0xb8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
inline constexpr Address6 kDestination6{0x20, 1, 0xd, 0xb8, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};

struct V6 {
  Address6 source = kSource6, destination = kDestination6;
  std::uint8_t traffic_class = 0, hop_limit = 64;
};
inline Octets ip6(std::uint8_t next, const Octets& payload, const V6& h = {}) {
  return be32(0x60000000u | static_cast<std::uint32_t>(h.traffic_class) << 20 | 0xabcde) +
         be16(payload.size()) + Octets{next, h.hop_limit} + Octets(h.source.begin(), h.source.end()) +
         Octets(h.destination.begin(), h.destination.end()) + payload;
}

inline Octets udp(std::uint16_t from, std::uint16_t to, std::size_t data) {
  return be16(from) + be16(to) + be16(8 + data) + be16(0) + zeros(data);
}
inline Octets tcp(std::uint16_t from, std::uint16_t to, std::size_t data, std::uint8_t words = 5) {
  return be16(from) + be16(to) + zeros(8) + Octets{static_cast<std::uint8_t>(words << 4), 0x10} + zeros(6) +
         zeros(data);
}
// `words` is the data offset; `extended` the X bit of RFC 4340 5.1.
inline Octets dccp(std::uint16_t from, std::uint16_t to, std::uint8_t words, bool extended) {
  return be16(from) + be16(to) + Octets{words, 0, 0, 0, static_cast<std::uint8_t>(extended ? 5 : 4)} +
         zeros(7);
}

}  // namespace surety::frames
