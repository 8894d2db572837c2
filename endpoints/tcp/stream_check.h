// SPDX-License-Identifier: BSD-3-Clause
// Verifies received segments: their checksum, and their payload against StreamPattern, in one pass where they
// match.
//
// Bytes that differ are counted for a stream that began with the pattern: its first kRecognised bytes, or all
// if there are less. Any other stream has no mismatches, and is not compared any more.
#pragma once

#include <cstdint>
#include <span>

#include "endpoints/tcp/wire_tcp.h"

namespace surety::endpoints {

class StreamCheck {
 public:
  static constexpr std::uint64_t kRecognised = 16;

  // True if the checksum of the segment is right. Payload that equals the stream at its `offset` has a
  // precomputed sum: it is not read twice. May be called before any check of the segment: any sequence number
  // is a position in the pattern.
  bool intact(const IpPacket& packet, std::span<const std::uint8_t> payload, std::uint64_t offset) {
    matched_ = pattern_ && !payload.empty() && StreamPattern::matches(payload, offset);
    if (!matched_ || packet.l4_verified) return tcp::checksum_good(packet);
    Sum sum = pseudo_header(packet);
    sum.add(packet.payload.first(packet.payload.size() - payload.size()));
    sum.add(StreamPattern::sum(offset, payload.size()));
    return sum.valid();
  }

  // Bytes of that segment are taken, at `offset`: counts those that differ.
  void compare(std::span<const std::uint8_t> bytes, std::uint64_t offset) {
    if (pattern_ && !matched_) count(bytes, offset);
  }
  std::uint64_t mismatches() const { return mismatches_; }

 private:
  void count(std::span<const std::uint8_t> bytes, std::uint64_t offset) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (bytes[i] == StreamPattern::byte(offset + i)) continue;
      ++mismatches_;
      if (offset + i < kRecognised) {
        pattern_ = false;
        mismatches_ = 0;
        return;
      }
    }
  }

  bool pattern_ = true, matched_ = false;  // matched: the payload of the last segment
  std::uint64_t mismatches_ = 0;
};

}  // namespace surety::endpoints
