// SPDX-License-Identifier: BSD-3-Clause
// Clamps the MSS option of TCP connections (RFC 9293 3.7.1), for paths whose smaller MTU the ends do not
// learn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "router/pipeline/wire/bytes.h"

namespace surety {

namespace detail {

// Replaces the 16 bits at `offset`, odd or even, of a message whose checksum field is at `checksum`: RFC 1624
// eqn. 3.
inline void replace_summed(std::span<std::uint8_t> message, std::size_t checksum, std::size_t offset,
                           std::uint16_t word) {
  auto old = load<std::uint16_t>(&message[offset]);
  store(&message[offset], word);
  if (offset % 2 != 0) {
    old = swap16(old);
    word = swap16(word);
  }
  std::uint32_t sum = (load<std::uint16_t>(&message[checksum]) ^ 0xffffu) + (old ^ 0xffffu) + word;
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  store(&message[checksum], static_cast<std::uint16_t>(~sum));
}

}  // namespace detail

// Lowers the MSS of a segment with SYN to `most` and keeps its checksum right. `segment` starts with the TCP
// header and may end anywhere. False: nothing was changed, because there is no SYN, no MSS above `most`, or
// the options are malformed before it. A SYN without the option stays without: its sender sends at most 536
// bytes (IPv6: 1220).
inline bool clamp_mss(std::span<std::uint8_t> segment, std::uint16_t most) {
  constexpr std::size_t kHeader = 20, kFlags = 13, kChecksum = 16;
  constexpr std::uint8_t kSyn = 0x02, kEnd = 0, kNop = 1, kMss = 2, kMssLength = 4;
  if (segment.size() < kHeader || (segment[kFlags] & kSyn) == 0) return false;
  const std::size_t end = std::size_t{segment[12]} >> 4 << 2;
  if (end > segment.size()) return false;
  for (std::size_t at = kHeader; at < end && segment[at] != kEnd;) {
    if (segment[at] == kNop) {
      ++at;
      continue;
    }
    if (at + 1 == end) return false;
    const std::size_t length = segment[at + 1];
    if (length < 2 || at + length > end) return false;
    if (segment[at] == kMss) {
      if (length != kMssLength || load_be16(&segment[at + 2]) <= most) return false;
      detail::replace_summed(segment, kChecksum, at + 2, swap16(most));
      return true;
    }
    at += length;
  }
  return false;
}

}  // namespace surety
