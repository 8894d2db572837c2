// SPDX-License-Identifier: BSD-3-Clause
// Reading single fields of an IP header that has passed parse().
#pragma once

#include <cstddef>
#include <cstdint>

#include "config/address.h"

namespace surety {

inline bool is_v6(const std::uint8_t* ip) {
  return ip[0] >> 4 == 6;
}

// DSCP << 2 | ECN.
inline std::uint8_t traffic_class(const std::uint8_t* ip) {
  return is_v6(ip) ? static_cast<std::uint8_t>(ip[0] << 4 | ip[1] >> 4) : ip[1];
}

constexpr std::size_t address_bytes(bool v6) {
  return v6 ? 16 : 4;
}
// The offset of the source address in an IP header; the destination follows it.
constexpr std::size_t addresses_at(bool v6) {
  return v6 ? 8 : 12;
}
inline IpAddress source_of(const std::uint8_t* ip) {
  const bool v6 = is_v6(ip);
  return IpAddress::load(ip + addresses_at(v6), v6);
}
inline IpAddress destination_of(const std::uint8_t* ip) {
  const bool v6 = is_v6(ip);
  return IpAddress::load(ip + addresses_at(v6) + address_bytes(v6), v6);
}

}  // namespace surety
