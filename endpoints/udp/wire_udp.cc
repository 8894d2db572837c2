// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/udp/wire_udp.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "router/pipeline/wire/bytes.h"

namespace surety::endpoints::udp {
namespace {

// The order of the counters on the wire.
constexpr std::array kCounters{&ReceiverReport::packets,       &ReceiverReport::bytes,
                               &ReceiverReport::in_packets,    &ReceiverReport::in_bytes,
                               &ReceiverReport::payload_bytes, &ReceiverReport::lost,
                               &ReceiverReport::duplicates,    &ReceiverReport::reordered};
static_assert(kPayloadHeaderBytes + 8 * kCounters.size() == kReportBytes);

std::uint64_t first_word(Type type, std::uint32_t sequence) {
  return std::uint64_t{kMagic} << 48 | std::uint64_t{kVersion} << 40 |
         static_cast<std::uint64_t>(type) << 32 | sequence;
}

// The IP and UDP headers in front of a payload whose sum is known.
std::size_t write_headers(const IpWriter& ip, std::uint8_t dscp, const Tuple& tuple, std::size_t payload,
                          Sum payload_sum, Slot& slot) {
  const std::size_t length = kHeaderBytes + payload;
  ip.write(slot.data, length, dscp);
  std::uint8_t* const udp = slot.data + ip.header_length();
  const std::uint64_t ports =
      std::uint64_t{swap16(tuple.local_port)} | std::uint64_t{swap16(tuple.remote_port)} << 16;
  const std::uint64_t udp_length = swap16(static_cast<std::uint16_t>(length));
  Sum sum = ip.pseudo(length);
  sum.add(payload_sum);
  sum.add(ports + udp_length);
  const std::uint16_t checksum = sum.checksum_field();
  const std::uint64_t field = checksum != 0 ? checksum : 0xffff;  // zero would say "none" (RFC 768)
  store(udp, ports | udp_length << 32 | field << 48);
  slot.length = static_cast<std::uint32_t>(ip.header_length() + length);
  return slot.length;
}

}  // namespace

bool ReceiverReport::follows(const ReceiverReport& earlier) const {
  return std::ranges::all_of(kCounters,
                             [&](auto c) { return c == &ReceiverReport::lost || this->*c >= earlier.*c; });
}

ReceiverReport ReceiverReport::operator-(const ReceiverReport& earlier) const {
  ReceiverReport r;
  for (const auto c : kCounters) r.*c = this->*c - earlier.*c;
  return r;
}

void ReceiverReport::read(FlowReading& out) const {
  out.received_packets = packets;
  out.received_bytes = bytes;
  out.received_in_packets = in_packets;
  out.received_in_bytes = in_bytes;
  out.payload_bytes = payload_bytes;
  out.lost_packets = lost;
  out.duplicate_packets = duplicates;
  out.reordered_packets = reordered;
}

Refusal read(const IpPacket& packet, Datagram& out) {
  const auto bytes = packet.payload;
  if (bytes.size() < kHeaderBytes) return Refusal::truncated;
  const std::size_t length = load_be16(bytes.data() + 4);
  if (length < kHeaderBytes) return Refusal::length;
  if (length > bytes.size()) return Refusal::truncated;
  const auto checksum = load<std::uint16_t>(bytes.data() + 6);
  if (checksum == 0) {
    if (packet.source.is_v6()) return Refusal::checksum;
  } else if (!packet.l4_verified) {
    Sum sum = pseudo_header(packet.source, packet.destination, kProtocol, static_cast<std::uint32_t>(length));
    sum.add(bytes.first(length));
    if (!sum.valid()) return Refusal::checksum;
  }
  out.source_port = load_be16(bytes.data());
  out.destination_port = load_be16(bytes.data() + 2);
  out.payload = bytes.subspan(kHeaderBytes, length - kHeaderBytes);
  return Refusal::none;
}

Refusal read_payload(std::span<const std::uint8_t> payload, PayloadHeader& out) {
  if (payload.size() < kPayloadHeaderBytes) return Refusal::not_ours;
  const std::uint64_t word = load_be64(payload.data());
  const auto type = static_cast<Type>(word >> 32 & 0xff);
  const bool known = type == Type::data || type == Type::report;
  if (word >> 40 != (std::uint64_t{kMagic} << 8 | kVersion) || !known) return Refusal::not_ours;
  out = {type, static_cast<std::uint32_t>(word), load_be64(payload.data() + 8)};
  return Refusal::none;
}

Refusal read_report(std::span<const std::uint8_t> payload, ReceiverReport& out) {
  if (payload.size() < kReportBytes) return Refusal::truncated;
  if (payload.size() > kReportBytes) return Refusal::length;
  const std::uint8_t* at = payload.data() + kPayloadHeaderBytes;
  for (const auto counter : kCounters) {
    out.*counter = load_be64(at);
    at += 8;
  }
  return Refusal::none;
}

std::size_t write_data(const IpWriter& ip, std::uint8_t dscp, const Tuple& tuple, std::uint32_t sequence,
                       std::uint64_t time, std::size_t payload, Slot& slot) {
  std::uint8_t* const data = slot.data + ip.header_length() + kHeaderBytes;
  const std::uint64_t first = __builtin_bswap64(first_word(Type::data, sequence));
  const std::uint64_t second = __builtin_bswap64(time);
  store(data, first);
  store(data + 8, second);
  std::memset(data + kPayloadHeaderBytes, 0, payload - kPayloadHeaderBytes);
  Sum sum(first);
  sum.add(second);
  return write_headers(ip, dscp, tuple, payload, sum, slot);
}

std::size_t write_report(const IpWriter& ip, const Tuple& tuple, std::uint32_t number, std::uint64_t time,
                         const ReceiverReport& report, Slot& slot) {
  std::uint8_t* const data = slot.data + ip.header_length() + kHeaderBytes;
  store(data, __builtin_bswap64(first_word(Type::report, number)));
  store(data + 8, __builtin_bswap64(time));
  std::uint8_t* at = data + kPayloadHeaderBytes;
  for (const auto counter : kCounters) {
    store(at, __builtin_bswap64(report.*counter));
    at += 8;
  }
  Sum sum;
  sum.add(std::span<const std::uint8_t>(data, kReportBytes));
  return write_headers(ip, 0, tuple, kReportBytes, sum, slot);
}

}  // namespace surety::endpoints::udp
