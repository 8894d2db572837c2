// SPDX-License-Identifier: BSD-3-Clause
// The addresses of an IP header that has passed parse(), as routes and configuration have them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "config/config.h"
#include "router/wire/ip_bytes.h"

namespace surety {

constexpr std::size_t address_bytes(bool v6) {
  return v6 ? 16 : 4;
}
// Of the source address in an IP header; the destination follows it.
constexpr std::size_t addresses_at(bool v6) {
  return v6 ? 8 : 12;
}

inline config::Address load_address(const std::uint8_t* p, bool v6) {
  config::Address a;
  a.v6 = v6;
  std::memcpy(a.bytes.data(), p, address_bytes(v6));
  return a;
}

inline config::Address source_of(const std::uint8_t* ip) {
  const bool v6 = is_v6(ip);
  return load_address(ip + addresses_at(v6), v6);
}
inline config::Address destination_of(const std::uint8_t* ip) {
  const bool v6 = is_v6(ip);
  return load_address(ip + addresses_at(v6) + address_bytes(v6), v6);
}

}  // namespace surety
