// SPDX-License-Identifier: BSD-3-Clause
// A customer, as far as it matters to what customers share in parts: the port, and one of
// kParts parts behind it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace surety {

using Customer = std::uint16_t;  // port << 8 | part
inline constexpr std::size_t kParts = 256;
constexpr std::uint8_t port_of(Customer c) {
  return static_cast<std::uint8_t>(c >> 8);
}

}  // namespace surety
