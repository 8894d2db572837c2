// SPDX-License-Identifier: BSD-3-Clause
// Addresses that a router must refuse, keep on the link, or hand to the kernel. Pure predicates over
// addresses in host order; the FIB handles those that depend on the router's own subnets (directed broadcast,
// own addresses).
//
// Sources: RFC 1812 4.2.2.11, 5.3.7 (martians), RFC 3927 7 (169.254/16), RFC 4291 2.5-2.7 (IPv6 scopes), RFC
// 6890.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace surety::ipv4 {

constexpr bool this_network(std::uint32_t a) {
  return a >> 24 == 0;
}
constexpr bool loopback(std::uint32_t a) {
  return a >> 24 == 127;
}
constexpr bool multicast(std::uint32_t a) {
  return a >> 28 == 0xe;
}
constexpr bool reserved(std::uint32_t a) {
  return a >> 28 == 0xf;
}  // 240/4, the limited broadcast among it
constexpr bool limited_broadcast(std::uint32_t a) {
  return a == 0xffffffff;
}
constexpr bool link_local(std::uint32_t a) {
  return a >> 16 == 0xa9fe;
}

constexpr bool martian_source(std::uint32_t a) {
  return this_network(a) || loopback(a) || multicast(a) || reserved(a);
}
constexpr bool martian_destination(std::uint32_t a) {
  return this_network(a) || loopback(a) || (reserved(a) && !limited_broadcast(a));
}
constexpr bool for_many(std::uint32_t a) {
  return multicast(a) || limited_broadcast(a);
}

// 1 where the first byte alone shows that none of the above holds: one load on the fast path
// instead of six comparisons.
inline constexpr std::array<std::uint8_t, 256> kOrdinary = [] {
  std::array<std::uint8_t, 256> table{};
  for (std::uint32_t first = 0; first < 256; ++first) {
    const std::uint32_t a = first << 24;
    table[first] = !martian_source(a) && first != 169;
  }
  return table;
}();

}  // namespace surety::ipv4

namespace surety::ipv6 {

struct Address {
  std::uint64_t high = 0, low = 0;
  friend constexpr bool operator==(const Address&, const Address&) = default;
};

constexpr bool unspecified(const Address& a) {
  return (a.high | a.low) == 0;
}
constexpr bool loopback(const Address& a) {
  return a.high == 0 && a.low == 1;
}
constexpr bool v4_mapped(const Address& a) {
  return a.high == 0 && a.low >> 32 == 0xffff;
}
constexpr bool link_local(const Address& a) {
  return a.high >> 54 == 0xfe80 >> 6;
}
constexpr bool multicast(const Address& a) {
  return a.high >> 56 == 0xff;
}
// Scope 0 (reserved) and 1 (interface-local): discarded when received from a wire (RFC 4291 2.7).
constexpr bool multicast_of_no_link(const Address& a) {
  return multicast(a) && (a.high >> 48 & 0xf) <= 1;
}

constexpr bool multicast_of_link(const Address& a) {
  return multicast(a) && (a.high >> 48 & 0xf) == 2;
}

// The unspecified address is a martian too, unless the packet is neighbour discovery's
// (duplicate address detection).
constexpr bool martian_source(const Address& a) {
  return multicast(a) || unspecified(a) || loopback(a) || v4_mapped(a);
}
constexpr bool martian_destination(const Address& a) {
  return unspecified(a) || loopback(a) || v4_mapped(a) || multicast_of_no_link(a);
}

// True if the first byte alone shows that none of the above holds.
constexpr bool ordinary(std::uint8_t first) {
  return first - 1u < 0xfdu;
}

}  // namespace surety::ipv6
