// SPDX-License-Identifier: BSD-3-Clause
// TCP segments as bytes (RFC 9293 3.1, 7323, 2018): reading with every length checked, and writing; and the
// bytes of our senders' streams.
//
// read() refuses by name and never reads beyond its span; unknown options are skipped. Sequence numbers are
// 32-bit in host order; compare them with before()/after() only.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "endpoints/engine/engine.h"
#include "endpoints/engine/refusal.h"
#include "router/pipeline/wire/checksum.h"
#include "router/pipeline/wire/ip.h"
#include "router/pipeline/wire/ip_writer.h"

namespace surety::endpoints {

namespace tcp {

inline constexpr std::uint8_t kProtocol = 6;  // IANA

enum Flag : std::uint8_t {
  kFin = 1,
  kSyn = 2,
  kRst = 4,
  kPsh = 8,
  kAck = 16,
  kUrg = 32,
  kEce = 64,
  kCwr = 128
};

constexpr bool before(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>(a - b) < 0;
}

struct Timestamps {
  std::uint32_t value = 0, echo = 0;
};

// [begin, end) has arrived (RFC 2018 3).
struct Block {
  std::uint32_t begin, end;
  bool empty() const { return begin == end; }
  friend bool operator==(const Block&, const Block&) = default;
};
struct Blocks {
  static constexpr std::size_t kMost = 4;  // blocks that fit 40 bytes of options; three beside timestamps
  std::array<Block, kMost> block;          // beyond `count` without a value: every segment is made with these
  std::size_t count = 0;
  std::span<const Block> all() const { return {block.data(), count}; }
  void add(const Block& b) { block[count++] = b; }
};

struct Segment {
  std::uint16_t source_port = 0, destination_port = 0;
  std::uint32_t sequence = 0, ack = 0;
  std::uint8_t flags = 0;
  std::uint16_t window = 0;                  // unscaled
  std::optional<std::uint16_t> mss;          // SYN only
  std::optional<std::uint8_t> window_scale;  // SYN only; at most 14 (RFC 7323 2.3)
  bool sack_permitted = false;               // SYN only
  std::optional<Timestamps> timestamps;
  Blocks sack;
  std::span<const std::uint8_t> payload;

  bool has(std::uint8_t flag) const { return (flags & flag) != 0; }
  // Sequence space it takes: payload, SYN and FIN.
  std::uint32_t length() const {
    return static_cast<std::uint32_t>(payload.size()) + (has(kSyn) ? 1 : 0) + (has(kFin) ? 1 : 0);
  }
};

// `packet.payload` is the TCP segment. none: `out` is complete. Refusals: truncated, checksum, tcp_header
// (data offset below 5; SYN with FIN or RST; none of SYN, ACK and RST), tcp_option.
Refusal read(const IpPacket& packet, Segment& out);

// read() in two steps, for a receiver that can check the payload more cheaply than by summing it.
Refusal read_unverified(const IpPacket& packet, Segment& out);  // all but checksum
bool checksum_good(const IpPacket& packet);                     // true when l4_verified

// Bytes of the header with the options that `s` has: 20 .. 60, a multiple of 4. Timestamps are laid out as
// Linux does (NOP NOP TS), so that the fast path of its receiver sees them.
std::size_t header_length(const Segment& s);

// Bytes [offset, offset + length) of StreamPattern.
struct Payload {
  std::uint64_t offset = 0;
  std::size_t length = 0;
};

// Writes the whole IP packet: IP header, TCP header with the options that `s` has, payload, checksum. Sets
// slot.length and returns it. `slot` has room for ip.header_length() + header_length(s) + payload; s.payload
// is not looked at.
std::size_t write(const Segment& s, Payload payload, const IpWriter& ip, std::uint8_t dscp, Slot& slot);

// Writes such a packet around the bytes of s.payload (none: a pure ACK) instead of the pattern's.
std::size_t write(const Segment& s, const IpWriter& ip, std::uint8_t dscp, Slot& slot);

}  // namespace tcp

// The payload of our TCP senders:
// byte i of the stream is a function of i alone, so that any receiver can check it.
//
// byte(i) = a fixed pseudo-random table of kPeriod bytes at i mod kPeriod. kPeriod is an odd prime, so that a
// stream that is shifted by any power of two does not match itself. Writing is one copy; the checksum comes
// from prefix sums of the table without touching the bytes again.
class StreamPattern {
 public:
  static constexpr std::uint64_t kPeriod = 65521;

  static std::uint8_t byte(std::uint64_t offset);
  // Writes the bytes of stream offsets [offset, offset + to.size()); returns their sum as if `to` began at an
  // even offset of the message.
  static Sum write(std::span<std::uint8_t> to, std::uint64_t offset);
  // Returns the sum without writing.
  static Sum sum(std::uint64_t offset, std::size_t length);
  // True if `data` equals the stream at `offset`.
  static bool matches(std::span<const std::uint8_t> data, std::uint64_t offset);
};

}  // namespace surety::endpoints
