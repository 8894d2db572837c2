// SPDX-License-Identifier: BSD-3-Clause
// How many packets of both precedences there are in a burst, their bytes, and those that queues count.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "aqm/queue_measure.h"
#include "conditioners/packet.h"

namespace surety {

struct PacketTally {
  std::uint32_t packets = 0, ins = 0;  // all, and those of them that are IN
  std::uint64_t bytes = 0, in_bytes = 0;
  std::uint32_t counted = 0, in_counted = 0;  // bytes, at most 1500 of each packet (queue_measure.h)
  bool alike = true;                          // all have the same length

  PacketTally() = default;
  // By the second half of a descriptor as one word: so a compiler takes several at once.
  explicit PacketTally(std::span<const Packet> burst) {
    static_assert(offsetof(Packet, flow) == 8 && offsetof(Packet, length) == 12 &&
                  offsetof(Packet, precedence) == 14 && index(Precedence::out) == 1 &&
                  std::endian::native == std::endian::little);
    std::uint64_t outs = 0, out_bytes = 0, differ = 0, largest = 0;
    const std::uint64_t first = burst.empty() ? 0u : burst[0].length;
    for (const Packet& p : burst) {
      std::uint64_t word;
      std::memcpy(&word, reinterpret_cast<const char*>(&p) + offsetof(Packet, flow), sizeof word);
      const std::uint64_t length = word >> 32 & 0xffff, out = word >> 48 & 1;
      outs += out;
      bytes += length;
      differ |= length ^ first;
      out_bytes += length & -out;
      largest = std::max(largest, length);
    }
    packets = static_cast<std::uint32_t>(burst.size());
    ins = packets - static_cast<std::uint32_t>(outs);
    in_bytes = bytes - out_bytes;
    counted = static_cast<std::uint32_t>(bytes);
    in_counted = static_cast<std::uint32_t>(in_bytes);
    if (largest > QueueMeasure::kFullPacket) [[unlikely]]
      count_large(burst);
    alike = differ == 0;
  }
  // Takes off what larger packets have beyond what they count with.
  void count_large(std::span<const Packet> burst) {
    for (const Packet& p : burst) {
      const std::uint32_t more = p.length - QueueMeasure::counted(p.length);
      counted -= more;
      in_counted -= p.precedence == Precedence::in ? more : 0u;
    }
  }
  std::uint32_t outs() const { return packets - ins; }
  std::uint64_t out_bytes() const { return bytes - in_bytes; }
};

}  // namespace surety
