// SPDX-License-Identifier: BSD-3-Clause
// The Internet checksum (RFC 1071) in 64-bit steps, and the pseudo headers of IPv4 and IPv6.
//
// Sums are of words as loaded (RFC 1071 2B: byte order does not matter as long as one keeps to it), so that
// checksum_field() is stored as it is.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "router/pipeline/wire/bytes.h"
#include "router/pipeline/wire/ip.h"

namespace surety {

// A one's complement sum, unfolded: adds keep the carry.
class Sum {
 public:
  constexpr Sum() = default;
  constexpr explicit Sum(std::uint64_t words) : n_(words) {}
  constexpr void add(std::uint64_t words) {
    n_ += words;
    n_ += n_ < words;
  }
  constexpr void add(Sum other) { add(other.n_); }
  // A 16-bit word in host order, e.g. a length or a protocol number.
  constexpr void add_host16(std::uint16_t v) { add(static_cast<std::uint64_t>(__builtin_bswap16(v))); }
  // `data` must begin at an even offset of the message; an odd end counts as padded with zero.
  void add(std::span<const std::uint8_t> data);

  // 16 bits, as loaded; not complemented.
  constexpr std::uint16_t folded() const {
    // A sum and itself with its halves swapped: the upper half is both, their carry put back.
    const auto s = static_cast<std::uint32_t>((n_ + std::rotl(n_, 32)) >> 32);
    return static_cast<std::uint16_t>((s + std::rotl(s, 16)) >> 16);
  }
  // The content of a checksum field (as loaded); stored without swapping.
  constexpr std::uint16_t checksum_field() const { return static_cast<std::uint16_t>(~folded()); }
  // True if data that includes its checksum field and pseudo header is intact.
  constexpr bool valid() const { return folded() == 0xffff; }

 private:
  std::uint64_t n_ = 0;
};

// Addresses, protocol and length of the upper layer (RFC 9293 3.1, RFC 8200 8.1).
inline Sum pseudo_header(const IpAddress& source, const IpAddress& destination, std::uint8_t protocol,
                         std::uint32_t length) {
  Sum s;
  if (source.is_v6()) {
    s.add(source.high);
    s.add(source.low);
    s.add(destination.high);
    s.add(destination.low);
  } else {
    s.add(std::uint64_t{source.v4_as_loaded()} + destination.v4_as_loaded());
  }
  s.add(static_cast<std::uint64_t>(__builtin_bswap32(length)) + (std::uint64_t{protocol} << 8));
  return s;
}
inline Sum pseudo_header(const IpPacket& p) {
  return pseudo_header(p.source, p.destination, p.protocol, static_cast<std::uint32_t>(p.payload.size()));
}

inline void Sum::add(std::span<const std::uint8_t> data) {
  const std::uint8_t* p = data.data();
  std::size_t n = data.size();
  if (n >= 128) {
    // Eight independent 32-bit-lane sums: the compiler vectorises them, which pays from here on.
    std::uint64_t lanes[8] = {};
    for (; n >= 64; n -= 64, p += 64) {
      for (int i = 0; i < 8; ++i) {
        const auto w = load<std::uint64_t>(p + 8 * i);
        lanes[i] += (w & 0xffff'ffff) + (w >> 32);
      }
    }
    for (const std::uint64_t l : lanes) add(l);
  }
  for (; n >= 8; n -= 8, p += 8) add(load<std::uint64_t>(p));
  if (n >= 4) {
    add(std::uint64_t{load<std::uint32_t>(p)});
    p += 4;
    n -= 4;
  }
  if (n >= 2) {
    add(std::uint64_t{load<std::uint16_t>(p)});
    p += 2;
    n -= 2;
  }
  if (n != 0) add(std::uint64_t{*p});
}

}  // namespace surety
