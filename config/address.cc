// SPDX-License-Identifier: BSD-3-Clause
#include "config/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <string>

namespace surety::config {
namespace {

std::uint8_t keep_mask(int length, int byte) {
  const int bits = std::clamp(length - 8 * byte, 0, 8);
  return static_cast<std::uint8_t>(0xff00 >> bits);
}

bool equal_under(const Address& a, const Address& b, int length) {
  for (int i = 0; i < 16; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if ((a.bytes[at] ^ b.bytes[at]) & keep_mask(length, i)) return false;
  }
  return true;
}

}  // namespace

Prefix Prefix::masked() const {
  Prefix p = *this;
  for (int i = 0; i < 16; ++i) p.address.bytes[static_cast<std::size_t>(i)] &= keep_mask(length, i);
  return p;
}

bool Prefix::contains(const Address& a) const {
  return a.v6 == address.v6 && equal_under(a, address, length);
}

std::optional<Address> parse_address(std::string_view text) {
  const std::string s(text);
  Address a;
  a.v6 = s.find(':') != s.npos;
  if (inet_pton(a.v6 ? AF_INET6 : AF_INET, s.c_str(), a.bytes.data()) != 1 || s.find('\0') != s.npos)
    return {};
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
  if (length > static_cast<unsigned>(address_bits(*address))) return {};
  return Prefix{*address, static_cast<std::uint8_t>(length)};
}

std::optional<Mac> parse_mac(std::string_view text) {
  if (text.size() != 17) return {};
  Mac mac;
  for (std::size_t i = 0; i < 6; ++i) {
    const char* from = text.data() + 3 * i;
    const auto [end, error] = std::from_chars(from, from + 2, mac.bytes[i], 16);
    if (error != std::errc() || end != from + 2 || (i < 5 && from[2] != ':')) return {};
  }
  return mac;
}

bool is_unicast(const Address& a) {
  if (!a.v6) return a.bytes[0] != 0 && a.bytes[0] != 127 && a.bytes[0] < 224;
  const bool low = std::all_of(a.bytes.begin(), a.bytes.begin() + 15, [](auto b) { return b == 0; });
  return a.bytes[0] != 0xff && !(low && a.bytes[15] <= 1);
}

bool is_link_local_v6(const Address& a) {
  return a.v6 && a.bytes[0] == 0xfe && (a.bytes[1] & 0xc0) == 0x80;
}

std::string_view reserved_name(const Prefix& p) {
  if (p.address.v6 || p.length >= 31) return {};  // RFC 3021: both addresses of a /31 are hosts
  bool zeros = true, ones = true;
  for (int i = 0; i < 4; ++i) {
    const auto host = static_cast<std::uint8_t>(~keep_mask(p.length, i));
    const auto bits = static_cast<std::uint8_t>(p.address.bytes[static_cast<std::size_t>(i)] & host);
    zeros &= bits == 0;
    ones &= bits == host;
  }
  return zeros ? "network" : ones ? "broadcast" : "";
}

std::string to_string(const Address& a) {
  char text[INET6_ADDRSTRLEN] = {};
  inet_ntop(a.v6 ? AF_INET6 : AF_INET, a.bytes.data(), text, sizeof text);
  return text;
}

std::string to_string(const Prefix& p) {
  return fmt::format("{}/{}", to_string(p.address), p.length);
}

std::string to_string(const Mac& m) {
  return fmt::format("{:02x}", fmt::join(m.bytes, ":"));
}

}  // namespace surety::config
