// SPDX-License-Identifier: BSD-3-Clause
// UDP datagrams as bytes (RFC 768, RFC 8200 8.1) and what ours carry: a 16-byte header in front of the data,
// and the sink's report to the sender.
//
// read() and read_payload() refuse by name and never read beyond their span. Everything is in network order:
//   data    magic:16 version:8 type:8 sequence:32 time:64, then zeros
//   report  the same header (sequence: the number of the report), then the eight counters of ReceiverReport,
//           64 bits each, in the order of their declaration
#pragma once

#include <cstdint>
#include <span>

#include "endpoints/engine/engine.h"
#include "endpoints/engine/refusal.h"
#include "router/pipeline/wire/ip.h"
#include "router/pipeline/wire/ip_writer.h"

namespace surety::endpoints::udp {

inline constexpr std::uint8_t kProtocol = 17;
inline constexpr std::size_t kHeaderBytes = 8;
inline constexpr std::uint16_t kMagic = 0x5375;  // "Su"
inline constexpr std::uint8_t kVersion = 1;
inline constexpr std::size_t kPayloadHeaderBytes = 16;  // the least that a datagram of ours carries
inline constexpr std::size_t kReportBytes = 80;         // payload of a report

struct Datagram {
  std::uint16_t source_port = 0, destination_port = 0;
  std::span<const std::uint8_t> payload;
};

// `packet.payload` is the datagram; what follows its own length is ignored (RFC 768 allows it). Refusals:
// truncated, length, checksum. A checksum of zero means none over IPv4, and is wrong over IPv6.
Refusal read(const IpPacket& packet, Datagram& out);

enum class Type : std::uint8_t { data = 1, report = 2 };
struct PayloadHeader {
  Type type = Type::data;
  std::uint32_t sequence = 0;
  std::uint64_t time = 0;  // nanoseconds of the sender's clock
};

// Refusals: not_ours (too short, magic, version, a type that we do not have).
Refusal read_payload(std::span<const std::uint8_t> payload, PayloadHeader& out);

// Counters of a flow at its sink since the first packet.
struct ReceiverReport {
  std::uint64_t packets = 0, bytes = 0;        // IP packets and their bytes, duplicates included
  std::uint64_t in_packets = 0, in_bytes = 0;  // IN packets and bytes among these
  std::uint64_t payload_bytes = 0;             // UDP payload, each packet once
  std::uint64_t lost = 0, duplicates = 0, reordered = 0;
  // True if no counter has gone back since `earlier`, but for `lost`, which may.
  bool follows(const ReceiverReport& earlier) const;
  ReceiverReport operator-(const ReceiverReport& earlier) const;
  void read(FlowReading& out) const;  // received_*, payload_bytes, lost, duplicates and reordered
  friend bool operator==(const ReceiverReport&, const ReceiverReport&) = default;
};

// `payload` of a datagram whose type is report. Refusals: truncated, length.
Refusal read_report(std::span<const std::uint8_t> payload, ReceiverReport& out);

// Both write a whole IP packet and return its length, which they put into slot.length.
// `payload` >= kPayloadHeaderBytes is the length of the UDP payload; the slot has room for it.
std::size_t write_data(const IpWriter& ip, std::uint8_t dscp, const Tuple& tuple, std::uint32_t sequence,
                       std::uint64_t time, std::size_t payload, Slot& slot);
std::size_t write_report(const IpWriter& ip, const Tuple& tuple, std::uint32_t number, std::uint64_t time,
                         const ReceiverReport& report, Slot& slot);

}  // namespace surety::endpoints::udp
