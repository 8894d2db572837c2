// SPDX-License-Identifier: BSD-3-Clause
// Reading single fields of an IP header that has passed parse().
#pragma once

#include <cstdint>
#include <cstring>

namespace surety {

inline bool is_v6(const std::uint8_t* ip) {
  return ip[0] >> 4 == 6;
}

// DSCP << 2 | ECN.
inline std::uint8_t traffic_class(const std::uint8_t* ip) {
  return is_v6(ip) ? static_cast<std::uint8_t>(ip[0] << 4 | ip[1] >> 4) : ip[1];
}

}  // namespace surety
