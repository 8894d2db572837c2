// SPDX-License-Identifier: BSD-3-Clause
// Unaligned loads and stores of packet bytes, in the machine's order ("as loaded") and in network order.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace surety {

static_assert(std::endian::native == std::endian::little,
              "flow keys are written down as a little-endian load");

template <class T>
inline T load(const std::uint8_t* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}
template <class T>
inline void store(std::uint8_t* p, T value) {
  std::memcpy(p, &value, sizeof value);
}

constexpr std::uint16_t swap16(std::uint16_t v) {
  return __builtin_bswap16(v);
}
inline std::uint16_t load_be16(const std::uint8_t* p) {
  return __builtin_bswap16(load<std::uint16_t>(p));
}
inline std::uint32_t load_be32(const std::uint8_t* p) {
  return __builtin_bswap32(load<std::uint32_t>(p));
}
inline std::uint64_t load_be64(const std::uint8_t* p) {
  return __builtin_bswap64(load<std::uint64_t>(p));
}

}  // namespace surety
