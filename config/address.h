// SPDX-License-Identifier: BSD-3-Clause
// IP addresses, prefixes and MAC addresses: as values, and from and to text (RFC 4291, 2.2 and 2.3 for IPv6).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace surety {

// 16 bytes in network order, kept as two words as loaded (little endian). IPv4 as ::ffff:a.b.c.d (RFC 4291
// 2.5.5.2), which is therefore no IPv6 address here: parse() drops packets with it, parse_address() and the
// reader of netlink messages refuse it. Without a value: 0.0.0.0.
struct IpAddress {
  static constexpr std::uint64_t kV4Prefix = 0x0000'0000'ffff'0000;  // the low word's lower half, as loaded
  std::uint64_t high = 0, low = kV4Prefix;

  static constexpr IpAddress v4(std::uint32_t as_loaded) {
    return {0, kV4Prefix | std::uint64_t{as_loaded} << 32};
  }
  static constexpr IpAddress v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
    return v4(std::uint32_t{a} | std::uint32_t{b} << 8 | std::uint32_t{c} << 16 | std::uint32_t{d} << 24);
  }
  static IpAddress v6(const std::uint8_t* sixteen) {
    IpAddress a;
    std::memcpy(&a, sixteen, 16);
    return a;
  }
  static IpAddress load(const std::uint8_t* p, bool is_v6) {
    if (is_v6) return v6(p);
    std::uint32_t as_loaded;
    std::memcpy(&as_loaded, p, 4);
    return v4(as_loaded);
  }
  static constexpr IpAddress unspecified(bool v6) { return v6 ? IpAddress{0, 0} : IpAddress{}; }

  constexpr bool is_v6() const { return high != 0 || (low & 0xffff'ffff) != kV4Prefix; }
  constexpr std::uint32_t v4_as_loaded() const { return static_cast<std::uint32_t>(low >> 32); }
  constexpr std::uint32_t v4_host_order() const { return __builtin_bswap32(v4_as_loaded()); }
  constexpr std::uint8_t bits() const { return is_v6() ? 128 : 32; }
  // The address's 4 or 16 bytes in network order.
  constexpr std::size_t size() const { return is_v6() ? 16 : 4; }
  std::uint8_t* data() { return reinterpret_cast<std::uint8_t*>(this) + (is_v6() ? 0 : 12); }
  const std::uint8_t* data() const { return const_cast<IpAddress*>(this)->data(); }
  std::span<const std::uint8_t> bytes() const { return {data(), size()}; }

  friend bool operator==(const IpAddress&, const IpAddress&) = default;
  // IPv4 first, then as written.
  friend constexpr std::strong_ordering operator<=>(const IpAddress& a, const IpAddress& b) {
    if (a.is_v6() != b.is_v6()) return a.is_v6() <=> b.is_v6();
    if (a.high != b.high) return __builtin_bswap64(a.high) <=> __builtin_bswap64(b.high);
    return __builtin_bswap64(a.low) <=> __builtin_bswap64(b.low);
  }
};

struct Prefix {
  // The prefix as written: host bits kept (an interface address), use masked() for routes and matches.
  IpAddress address;
  std::uint8_t length = 0;
  IpAddress mask() const;  // ones for the prefix; for IPv4 also for the bits before the 32
  Prefix masked() const;
  bool contains(const IpAddress& a) const;
  friend auto operator<=>(const Prefix&, const Prefix&) = default;
};

using MacAddress = std::array<std::uint8_t, 6>;

std::optional<IpAddress> parse_address(std::string_view text);  // none for ::ffff:a.b.c.d
std::optional<Prefix> parse_prefix(std::string_view text);      // host bits kept; without `/length`: none
std::optional<MacAddress> parse_mac(std::string_view text);     // 02:00:00:00:00:01
std::string to_string(const IpAddress& a);
std::string to_string(const Prefix& p);
std::string to_string(const MacAddress& m);

// A host's own address: not unspecified, loopback, multicast or IPv4 class E.
bool is_unicast(const IpAddress& a);
bool is_multicast(const IpAddress& a);
bool is_link_local_v6(const IpAddress& a);
// "network" or "broadcast" where an IPv4 interface address is one of these; else empty.
std::string_view reserved_name(const Prefix& p);

}  // namespace surety
