// SPDX-License-Identifier: BSD-3-Clause
// Order and ends of prefixes, for the tables of the control plane.
#pragma once

#include <cstdint>
#include <tuple>

#include "config/address.h"
#include "config/config.h"

namespace surety {

struct AddressLess {
  bool operator()(const config::Address& a, const config::Address& b) const {
    return std::tie(a.v6, a.bytes) < std::tie(b.v6, b.bytes);
  }
};
struct PrefixLess {
  bool operator()(const config::Prefix& a, const config::Prefix& b) const {
    return std::tie(a.address.v6, a.address.bytes, a.length) <
           std::tie(b.address.v6, b.address.bytes, b.length);
  }
};

inline std::uint8_t host_length(const config::Address& a) {
  return static_cast<std::uint8_t>(config::address_bits(a));
}
inline config::Prefix host_prefix(const config::Address& a) {
  return {a, host_length(a)};
}
inline bool is_host(const config::Prefix& p) {
  return p.length == host_length(p.address);
}

// The last address of a prefix; the first is masked().address.
inline config::Address last_address(const config::Prefix& p) {
  config::Address a = p.masked().address;
  for (std::size_t i = 0; i < host_length(a) / 8U; ++i) {
    const int kept = p.length - static_cast<int>(8 * i);
    if (kept < 8) a.bytes[i] = static_cast<std::uint8_t>(a.bytes[i] | (kept <= 0 ? 0xff : 0xff >> kept));
  }
  return a;
}

// Whether packets to it can be forwarded. Link-local scope of IPv6 and multicast never come to the FIB,
// parse() punts them; nor do reserved IPv4 addresses (240.0.0.0/4), which it drops.
inline bool is_forwardable(const config::Prefix& p) {
  const auto& b = p.address.bytes;
  if (!p.address.v6) return b[0] < 224;
  return !(p.length >= 8 && b[0] == 0xff) && !(p.length >= 10 && config::is_link_local_v6(p.address));
}

}  // namespace surety
