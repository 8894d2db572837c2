// SPDX-License-Identifier: BSD-3-Clause
#include "config/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

namespace surety {

IpAddress Prefix::mask() const {
  const int bits = length + (address.is_v6() ? 0 : 96);
  const auto word = [](int n) {
    if (n <= 0) return std::uint64_t{0};
    return n >= 64 ? ~std::uint64_t{0} : __builtin_bswap64(~std::uint64_t{0} << (64 - n));
  };
  return {word(bits), word(bits - 64)};
}

Prefix Prefix::masked() const {
  const IpAddress m = mask();
  return {{address.high & m.high, address.low & m.low}, length};
}

bool Prefix::contains(const IpAddress& a) const {
  return a.is_v6() == address.is_v6() && Prefix{a, length}.masked() == masked();
}

std::optional<IpAddress> parse_address(std::string_view text) {
  const std::string s(text);
  const bool v6 = s.find(':') != s.npos;
  IpAddress a = IpAddress::unspecified(v6);
  if (inet_pton(v6 ? AF_INET6 : AF_INET, s.c_str(), a.data()) != 1 || s.find('\0') != s.npos) return {};
  if (a.is_v6() != v6) return {};
  return a;
}

std::optional<Prefix> parse_prefix(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == text.npos) return {};
  const auto address = parse_address(text.substr(0, slash));
  const auto digits = text.substr(slash + 1);
  unsigned length = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
  if (!address || error != std::errc() || end != digits.data() + digits.size()) return {};
  if (length > address->bits()) return {};
  return Prefix{*address, static_cast<std::uint8_t>(length)};
}

std::optional<MacAddress> parse_mac(std::string_view text) {
  if (text.size() != 17) return {};
  MacAddress mac{};
  for (std::size_t i = 0; i < 6; ++i) {
    const char* from = text.data() + 3 * i;
    const auto [end, error] = std::from_chars(from, from + 2, mac[i], 16);
    if (error != std::errc() || end != from + 2 || (i < 5 && from[2] != ':')) return {};
  }
  return mac;
}

bool is_unicast(const IpAddress& a) {
  const std::uint8_t first = a.data()[0];
  if (!a.is_v6()) return first != 0 && first != 127 && first < 224;
  return first != 0xff && !(a.high == 0 && __builtin_bswap64(a.low) <= 1);
}

bool is_multicast(const IpAddress& a) {
  return a.is_v6() ? a.data()[0] == 0xff : a.data()[0] >> 4 == 0xe;
}

bool is_link_local_v6(const IpAddress& a) {
  return a.is_v6() && a.data()[0] == 0xfe && (a.data()[1] & 0xc0) == 0x80;
}

std::string_view reserved_name(const Prefix& p) {
  if (p.address.is_v6() || p.length >= 31) return {};  // RFC 3021: both addresses of a /31 are hosts
  const std::uint64_t host = ~p.mask().low, bits = p.address.low & host;
  return bits == 0 ? "network" : bits == host ? "broadcast" : "";
}

std::string to_string(const IpAddress& a) {
  char text[INET6_ADDRSTRLEN] = {};
  inet_ntop(a.is_v6() ? AF_INET6 : AF_INET, a.data(), text, sizeof text);
  return text;
}

std::string to_string(const Prefix& p) {
  return fmt::format("{}/{}", to_string(p.address), p.length);
}

std::string to_string(const MacAddress& m) {
  return fmt::format("{:02x}", fmt::join(m, ":"));
}

}  // namespace surety
