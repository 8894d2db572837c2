// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/wire_tcp.h"

#include <algorithm>
#include <cstring>

namespace surety::endpoints::tcp {

namespace {

constexpr std::size_t kHeader = 20;
enum Option : std::uint8_t {
  kEnd = 0,
  kNop = 1,
  kMss = 2,
  kWindowScale = 3,
  kSackPermitted = 4,
  kSack = 5,
  kTimestamp = 8
};
constexpr std::uint8_t kLargestScale = 14;
// NOP NOP, kind 8, length 10: the usual layout of timestamps.
constexpr std::uint32_t kAlignedTimestamps = 0x0101'080a;
// In a SYN, kind 4, length 2 replaces the NOPs, as in Linux.
constexpr std::uint32_t kSackAndTimestamps = 0x0402'080a, kAlignedSackPermitted = 0x0101'0402;
constexpr std::size_t kBlock = 8;

Timestamps read_timestamps(const std::uint8_t* p) {
  return {load_be32(p), load_be32(p + 4)};
}

bool option_length_good(std::uint8_t kind, std::size_t length) {
  switch (kind) {
    case kMss:
      return length == 4;
    case kWindowScale:
      return length == 3;
    case kTimestamp:
      return length == 10;
    case kSackPermitted:
      return length == 2;
    case kSack:
      return length >= 2 + kBlock && length <= 2 + Blocks::kMost * kBlock && (length - 2) % kBlock == 0;
    default:
      return length >= 2;
  }
}

void read_blocks(const std::uint8_t* p, Blocks& out) {
  out.count = 0;
  for (const std::uint8_t* const end = p + p[1]; (p += out.count == 0 ? 2 : kBlock) < end;)
    out.add({load_be32(p), load_be32(p + 4)});
}

void take_option(const std::uint8_t* p, Segment& out) {
  switch (p[0]) {
    case kTimestamp:
      out.timestamps = read_timestamps(p + 2);
      break;
    case kMss:
      if (out.has(kSyn)) out.mss = load_be16(p + 2);
      break;
    case kWindowScale:
      if (out.has(kSyn)) out.window_scale = std::min(p[2], kLargestScale);
      break;
    case kSackPermitted:
      if (out.has(kSyn)) out.sack_permitted = true;
      break;
    case kSack:
      if (!out.has(kSyn)) read_blocks(p, out.sack);
      break;
    default:
      break;
  }
}

Refusal read_options(std::span<const std::uint8_t> options, Segment& out) {
  if (options.size() == 12 && load_be32(options.data()) == kAlignedTimestamps) {
    out.timestamps = read_timestamps(options.data() + 4);
    return Refusal::none;
  }
  while (!options.empty() && options[0] != kEnd) {
    if (options[0] == kNop) {
      options = options.subspan(1);
      continue;
    }
    if (options.size() < 2) return Refusal::tcp_option;
    const std::size_t length = options[1];
    if (length > options.size() || !option_length_good(options[0], length)) return Refusal::tcp_option;
    take_option(options.data(), out);
    options = options.subspan(length);
  }
  return Refusal::none;
}

bool flags_possible(std::uint8_t flags) {
  if ((flags & kSyn) != 0) return (flags & (kFin | kRst)) == 0;
  return (flags & (kAck | kRst)) != 0;
}

// Stores in network order, and sums what was stored.
class Words {
 public:
  explicit Words(std::uint8_t* to) : to_(to) {}
  void put32(std::uint32_t v) { put(__builtin_bswap32(v)); }
  void put64(std::uint64_t v) { put(__builtin_bswap64(v)); }
  Sum sum() const { return sum_; }

 private:
  template <class T>
  void put(T as_loaded) {
    store(to_, as_loaded);
    to_ += sizeof as_loaded;
    sum_.add(std::uint64_t{as_loaded});
  }
  std::uint8_t* to_;
  Sum sum_;
};

constexpr std::uint64_t pair(std::uint32_t first, std::uint32_t second) {
  return std::uint64_t{first} << 32 | second;
}

Sum write_header(const Segment& s, std::size_t header, std::uint8_t* to) {
  Words w(to);
  w.put64(pair(static_cast<std::uint32_t>(s.source_port) << 16 | s.destination_port, s.sequence));
  w.put64(pair(s.ack, static_cast<std::uint32_t>(header) << 26 | static_cast<std::uint32_t>(s.flags) << 16 |
                          s.window));
  w.put32(0);  // checksum, urgent pointer
  if (s.mss) w.put32(std::uint32_t{kMss} << 24 | 4 << 16 | *s.mss);
  if (s.timestamps) {
    w.put32(s.sack_permitted ? kSackAndTimestamps : kAlignedTimestamps);
    w.put64(pair(s.timestamps->value, s.timestamps->echo));
  } else if (s.sack_permitted) {
    w.put32(kAlignedSackPermitted);
  }
  if (s.window_scale)
    w.put32(std::uint32_t{kNop} << 24 | std::uint32_t{kWindowScale} << 16 | 3 << 8 | *s.window_scale);
  if (s.sack.count != 0) {
    w.put32(static_cast<std::uint32_t>(kNop << 24 | kNop << 16 | kSack << 8 | (2 + kBlock * s.sack.count)));
    for (const Block& b : s.sack.all()) w.put64(pair(b.begin, b.end));
  }
  return w.sum();
}

// Both headers and the checksum around a payload that is already there.
std::size_t finish(const Segment& s, std::size_t header, std::size_t payload, Sum payload_sum,
                   const IpWriter& ip, std::uint8_t dscp, Slot& slot) {
  std::uint8_t* const to = slot.data + ip.header_length();
  ip.write(slot.data, header + payload, dscp);
  Sum sum = ip.pseudo(header + payload);
  sum.add(write_header(s, header, to));
  sum.add(payload_sum);
  store(to + 16, sum.checksum_field());
  slot.length = static_cast<std::uint32_t>(ip.header_length() + header + payload);
  return slot.length;
}

}  // namespace

Refusal read_unverified(const IpPacket& packet, Segment& out) {
  const auto bytes = packet.payload;
  if (bytes.size() < kHeader) return Refusal::truncated;
  const std::uint8_t* const p = bytes.data();
  const std::size_t header = std::size_t{p[12]} / 16 * 4;
  if (header < kHeader) return Refusal::tcp_header;
  if (header > bytes.size()) return Refusal::truncated;
  if (!flags_possible(p[13])) return Refusal::tcp_header;
  out.source_port = load_be16(p);
  out.destination_port = load_be16(p + 2);
  out.sequence = load_be32(p + 4);
  out.ack = load_be32(p + 8);
  out.flags = p[13];
  out.window = load_be16(p + 14);
  out.mss.reset();
  out.window_scale.reset();
  out.sack_permitted = false;
  out.timestamps.reset();
  out.sack.count = 0;
  out.payload = bytes.subspan(header);
  return read_options(bytes.subspan(kHeader, header - kHeader), out);
}

bool checksum_good(const IpPacket& packet) {
  if (packet.l4_verified) return true;
  Sum sum = pseudo_header(packet);
  sum.add(packet.payload);
  return sum.valid();
}

Refusal read(const IpPacket& packet, Segment& out) {
  if (packet.payload.size() >= kHeader && !checksum_good(packet)) return Refusal::checksum;
  return read_unverified(packet, out);
}

std::size_t header_length(const Segment& s) {
  const std::size_t sack_permitted = s.sack_permitted && !s.timestamps ? 4 : 0;
  return kHeader + (s.mss ? 4 : 0) + (s.timestamps ? 12 : 0) + sack_permitted + (s.window_scale ? 4 : 0) +
         (s.sack.count != 0 ? 4 + kBlock * s.sack.count : 0);
}

std::size_t write(const Segment& s, Payload payload, const IpWriter& ip, std::uint8_t dscp, Slot& slot) {
  const std::size_t header = header_length(s);
  const Sum sum =
      StreamPattern::write({slot.data + ip.header_length() + header, payload.length}, payload.offset);
  return finish(s, header, payload.length, sum, ip, dscp, slot);
}

std::size_t write(const Segment& s, const IpWriter& ip, std::uint8_t dscp, Slot& slot) {
  const std::size_t header = header_length(s);
  Sum sum;
  if (!s.payload.empty()) {
    std::memcpy(slot.data + ip.header_length() + header, s.payload.data(), s.payload.size());
    sum.add(s.payload);
  }
  return finish(s, header, s.payload.size(), sum, ip, dscp, slot);
}

}  // namespace surety::endpoints::tcp
