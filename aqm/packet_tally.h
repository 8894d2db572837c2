// SPDX-License-Identifier: BSD-3-Clause
// Sums over the descriptors of a burst.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "conditioners/packet.h"

namespace surety {

// Reads the second half of a descriptor as one word, so that the compiler vectorizes loops over descriptors.
inline std::uint64_t second_half(const Packet& p) {
  static_assert(offsetof(Packet, flow) == 8 && offsetof(Packet, length) == 12 &&
                offsetof(Packet, precedence) == 14 && index(Precedence::in) == 0 && kDropPrecedences == 3 &&
                std::endian::native == std::endian::little);
  std::uint64_t word;
  std::memcpy(&word, reinterpret_cast<const char*>(&p) + offsetof(Packet, flow), sizeof word);
  return word;
}

// 1 for an OUT or a red packet, 0 for an IN one: (precedence + 1) / 2 of the descriptor's second half.
inline std::uint64_t is_out(std::uint64_t second_half) {
  return (second_half + (std::uint64_t{1} << 48)) >> 49 & 1;
}

// The packets of a burst that are IN and those that are not, and their bytes.
struct PacketTally {
  std::uint32_t packets = 0, ins = 0;  // all, and those of them that are IN
  std::uint64_t bytes = 0, in_bytes = 0;

  PacketTally() = default;
  explicit PacketTally(std::span<const Packet> burst) {
    std::uint64_t outs = 0, out_bytes = 0;
    for (const Packet& p : burst) {
      const std::uint64_t word = second_half(p), length = word >> 32 & 0xffff, out = is_out(word);
      outs += out;
      bytes += length;
      out_bytes += length & -out;
    }
    packets = static_cast<std::uint32_t>(burst.size());
    ins = packets - static_cast<std::uint32_t>(outs);
    in_bytes = bytes - out_bytes;
  }
  std::uint32_t outs() const { return packets - ins; }
  std::uint64_t out_bytes() const { return bytes - in_bytes; }
};

// The packets of a burst that are not IN, and whether all its packets have the same length.
struct PacketMix {
  std::uint32_t outs = 0;
  bool alike = true;
  explicit PacketMix(std::span<const Packet> burst) {
    std::uint64_t out = 0, differ = 0;
    const std::uint64_t first = burst.empty() ? 0 : second_half(burst[0]);
    for (const Packet& p : burst) {
      const std::uint64_t word = second_half(p);
      out += is_out(word);
      differ |= word ^ first;
    }
    outs = static_cast<std::uint32_t>(out);
    alike = (differ >> 32 & 0xffff) == 0;
  }
};

}  // namespace surety
