// SPDX-License-Identifier: BSD-3-Clause
// DCCP packets as bytes (RFC 4340 5, RFC 4342 8, RFC 6773): reading with every length checked, and writing.
//
// Only the form with 48-bit sequence numbers (X = 1) is read and written: short ones need a feature that we
// never agree to. read() refuses by name and never reads beyond its span. Sequence and acknowledgement
// numbers are as on the wire, 48 bits; dccp_sequence.h extends them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "endpoints/engine/engine.h"
#include "endpoints/engine/refusal.h"
#include "router/pipeline/wire/ip.h"
#include "router/pipeline/wire/ip_writer.h"

namespace surety::endpoints::dccp {

inline constexpr std::uint8_t kProtocol = 33;

enum class Type : std::uint8_t {
  request,
  response,
  data,
  ack,
  data_ack,
  close_req,
  close,
  reset,
  sync,
  sync_ack
};

// RFC 4340 5.6.
enum class ResetCode : std::uint8_t {
  unspecified,
  closed,
  aborted,
  no_connection,
  packet_error,
  option_error,
  mandatory_error,
  connection_refused,
  bad_service_code,
  too_busy,
  bad_init_cookie,
  aggression_penalty
};

// RFC 4340 5.8 and RFC 4342 8 (IANA: CCID3-specific option types).
enum OptionType : std::uint8_t {
  kPadding = 0,
  kMandatory = 1,
  kSlowReceiver = 2,
  kChangeL = 32,
  kConfirmL = 33,
  kChangeR = 34,
  kConfirmR = 35,
  kNdpCount = 37,
  kTimestamp = 41,
  kTimestampEcho = 42,
  kElapsedTime = 43,
  kDataChecksum = 44,
  kLossEventRate = 192,
  kLossIntervals = 193,
  kReceiveRate = 194
};

constexpr bool has_ack(Type t) {
  return t != Type::request && t != Type::data;
}
constexpr bool carries_data(Type t) {
  return t == Type::data || t == Type::data_ack;
}
// Bytes before the options (X = 1).
constexpr std::size_t header_length(Type t) {
  const bool extra = t == Type::request || t == Type::response || t == Type::reset;
  return 16 + (has_ack(t) ? 8u : 0u) + (extra ? 4u : 0u);
}

struct Packet {
  std::uint16_t source_port = 0, destination_port = 0;
  Type type = Type::data;
  std::uint8_t ccval = 0;  // CCID 3: the window counter
  std::uint64_t sequence = 0;
  std::uint64_t ack = 0;           // valid if has_ack(type)
  std::uint32_t service_code = 0;  // Request, Response
  ResetCode reset_code = ResetCode::unspecified;
  std::uint8_t reset_data = 0;  // Data 1: of Mandatory Error and Option Error the option type
  std::span<const std::uint8_t> options, payload;
};

// `packet.payload` is the DCCP packet. none: `out` is complete and its options are well formed. Refusals:
// truncated, checksum, dccp_header, dccp_option. A partial checksum (RFC 4340 9.2) is accepted, and verified
// over what it covers. In UDP the host has verified the UDP checksum, which takes the place of DCCP's (its
// pseudo header would not survive a NAT).
Refusal read(const IpPacket& packet, Packet& out);

struct Option {
  std::uint8_t type = 0;
  bool mandatory = false;
  std::span<const std::uint8_t> data;  // without type and length
};

// Walks the options of a packet; padding is skipped.
class OptionReader {
 public:
  // overrun: a length beyond the header or below two; mandatory: the Mandatory option last, or before another
  // (RFC 4340 5.8.2).
  enum class End : std::uint8_t { clean, overrun, mandatory };

  explicit OptionReader(std::span<const std::uint8_t> options) : rest_(options) {}
  bool next(Option& out);
  End end() const { return end_; }  // once next() has returned false

 private:
  bool stop(End e);
  std::span<const std::uint8_t> rest_;
  End end_ = End::clean;
};

// The Timestamp option's value: at once for the layout that write_data() makes.
std::optional<std::uint32_t> timestamp(std::span<const std::uint8_t> options);

// Writes options one behind the other; the caller provides the room.
class OptionWriter {
 public:
  explicit OptionWriter(std::uint8_t* to) : begin_(to), at_(to) {}
  void mandatory() { *at_++ = kMandatory; }
  void put(std::uint8_t type, std::span<const std::uint8_t> data);
  void put32(std::uint8_t type, std::uint32_t value);
  void raw(std::span<const std::uint8_t> whole_options);
  // Times in 10 microseconds (RFC 4340 13.1, 13.3).
  void timestamp_echo(std::uint32_t timestamp, std::uint32_t elapsed);
  // Begins a Loss Intervals option; each interval() adds one, newest first, at most 28 (RFC 4342 8.6).
  void loss_intervals(std::uint8_t skip_length);
  void interval(std::uint32_t lossless, std::uint32_t loss, std::uint32_t data);
  // Pads to a multiple of four bytes; the length in all.
  std::size_t finish();

 private:
  std::uint8_t *begin_, *at_, *intervals_ = nullptr;
};

// One direction of a flow: everything of IP, UDP and DCCP that its packets have in common.
class PacketWriter {
 public:
  struct UdpPorts {
    std::uint16_t local = 0, remote = 0;  // zero: native DCCP
  };
  PacketWriter(const Tuple& tuple, UdpPorts udp);

  // RFC 6773: where the peer's packets come from now (a NAT may have moved it).
  void set_udp_remote(std::uint16_t port) { udp_.remote = port; }
  bool in_udp() const { return udp_.local != 0; }
  // Bytes of IP and UDP in front of the DCCP header.
  std::size_t offset() const { return ip_.header_length() + (in_udp() ? 8 : 0); }

  // A packet without payload; `options` is a multiple of four bytes.
  void write(Slot& slot, const Packet& p, std::span<const std::uint8_t> options, std::uint8_t dscp) const;

  static constexpr std::size_t kDataHeader = 24;     // Data: with the Timestamp option
  static constexpr std::size_t kDataAckHeader = 32;  // DataAck: with it, too
  // A Data (DataAck: `ack` given) packet of `length` bytes of IP in all, at least offset() + header: zeros
  // behind a Timestamp option.
  void write_data(Slot& slot, std::uint64_t sequence, std::uint8_t ccval, std::uint32_t timestamp,
                  std::uint32_t length, std::uint8_t dscp) const;
  void write_data_ack(Slot& slot, std::uint64_t sequence, std::uint64_t ack, std::uint8_t ccval,
                      std::uint32_t timestamp, std::uint32_t length, std::uint8_t dscp) const;

 private:
  std::uint64_t first_word(std::size_t header, std::uint8_t ccval) const;
  void seal(Slot& slot, Sum dccp, std::size_t dccp_length, std::uint8_t dscp) const;

  IpWriter ip_;
  std::uint32_t ports_;  // DCCP ports, as stored
  UdpPorts udp_;
};

}  // namespace surety::endpoints::dccp
