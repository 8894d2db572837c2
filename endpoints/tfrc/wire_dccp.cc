// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tfrc/wire_dccp.h"

#include <cstring>

#include "router/pipeline/wire/bytes.h"
#include "router/pipeline/wire/checksum.h"

namespace surety::endpoints::dccp {

namespace {

constexpr std::size_t kShortestHeader = 12;
constexpr std::uint64_t kSequenceMask = (std::uint64_t{1} << 48) - 1;

// RFC 4340 9.2: CsCov counts words of payload, plus one; zero is all of it.
bool coverage(std::span<const std::uint8_t> p, std::size_t data_offset, std::size_t& out) {
  const std::size_t words = p[5] & 15u;
  out = words == 0 ? p.size() : data_offset + 4 * (words - 1);
  return out <= p.size();
}

bool checksum_good(const IpPacket& packet, std::size_t covered) {
  Sum s = pseudo_header(packet);
  s.add(packet.payload.first(covered));
  return s.valid();
}

// True if `length` bytes (type and length included) are possible for an option that has a form of its own.
bool possible_length(std::uint8_t type, std::size_t length) {
  switch (type) {
    case kChangeL:
    case kConfirmL:
    case kChangeR:
    case kConfirmR:
      return length >= 3;
    case kNdpCount:
      return length >= 3 && length <= 8;
    case kTimestamp:
    case kDataChecksum:
    case kLossEventRate:
    case kReceiveRate:
      return length == 6;
    case kTimestampEcho:
      return length == 6 || length == 8 || length == 10;
    case kElapsedTime:
      return length == 4 || length == 6;
    case kLossIntervals:
      return length >= 3 && (length - 3) % 9 == 0;
    default:
      return true;
  }
}

// Timestamp and two bytes of padding: what write_data() makes.
bool lone_timestamp(std::span<const std::uint8_t> options) {
  return options.size() == 8 && load_be16(options.data()) == (kTimestamp << 8 | 6) &&
         load<std::uint16_t>(options.data() + 6) == 0;
}

bool well_formed(std::span<const std::uint8_t> options) {
  if (options.empty() || lone_timestamp(options)) return true;
  OptionReader reader(options);
  for (Option o; reader.next(o);)
    if (o.type >= 32 && !possible_length(o.type, o.data.size() + 2)) return false;
  return reader.end() != OptionReader::End::overrun;
}

void read_variable_header(const std::uint8_t* p, Packet& out) {
  if (has_ack(out.type)) out.ack = load_be64(p + 16) & kSequenceMask;
  if (out.type == Type::request) out.service_code = load_be32(p + 16);
  if (out.type == Type::response) out.service_code = load_be32(p + 24);
  if (out.type == Type::reset) {
    out.reset_code = static_cast<ResetCode>(p[24]);
    out.reset_data = p[25];
  }
}

void write_variable_header(std::uint8_t* p, const Packet& from) {
  if (has_ack(from.type)) store(p + 16, __builtin_bswap64(from.ack & kSequenceMask));
  if (from.type == Type::request) store(p + 16, __builtin_bswap32(from.service_code));
  if (from.type == Type::response) store(p + 24, __builtin_bswap32(from.service_code));
  if (from.type == Type::reset)
    store(p + 24, std::uint32_t{from.reset_data} << 8 | static_cast<std::uint32_t>(from.reset_code));
}

constexpr std::uint64_t second_word(Type type, std::uint64_t sequence) {
  const auto type_and_x = static_cast<std::uint64_t>(type) << 1 | 1;
  return __builtin_bswap64(type_and_x << 56 | (sequence & kSequenceMask));
}
constexpr std::uint64_t timestamp_word(std::uint32_t timestamp) {
  constexpr std::uint64_t kTypeAndLength = kTimestamp << 8 | 6;
  return __builtin_bswap64(kTypeAndLength << 48 | std::uint64_t{timestamp} << 16);
}

void put(std::uint8_t* to, Sum& sum, std::uint64_t word) {
  store(to, word);
  sum.add(word);
}

}  // namespace

Refusal read(const IpPacket& packet, Packet& out) {
  const std::span<const std::uint8_t> p = packet.payload;
  if (p.size() < kShortestHeader) return Refusal::truncated;
  const unsigned type = p[8] >> 1 & 15u;
  if (type > static_cast<unsigned>(Type::sync_ack) || (p[8] & 1) == 0) return Refusal::dccp_header;
  out.type = static_cast<Type>(type);
  const std::size_t fixed = header_length(out.type), data_offset = std::size_t{p[4]} * 4;
  if (p.size() < fixed) return Refusal::truncated;
  std::size_t covered = 0;
  if (data_offset < fixed || data_offset > p.size() || !coverage(p, data_offset, covered))
    return Refusal::dccp_header;
  if (!packet.l4_verified && packet.udp_source == 0 && !checksum_good(packet, covered))
    return Refusal::checksum;
  out.source_port = load_be16(p.data());
  out.destination_port = load_be16(p.data() + 2);
  out.ccval = p[5] >> 4;
  out.sequence = load_be64(p.data() + 8) & kSequenceMask;
  read_variable_header(p.data(), out);
  out.options = p.subspan(fixed, data_offset - fixed);
  out.payload = p.subspan(data_offset);
  return well_formed(out.options) ? Refusal::none : Refusal::dccp_option;
}

bool OptionReader::stop(End e) {
  end_ = e;
  rest_ = {};
  return false;
}

bool OptionReader::next(Option& out) {
  bool mandatory = false;
  while (!rest_.empty()) {
    const std::uint8_t type = rest_[0];
    if (type == kMandatory && mandatory) return stop(End::mandatory);
    if (type == kPadding || type == kMandatory) {
      mandatory = type == kMandatory;
      rest_ = rest_.subspan(1);
      continue;
    }
    if (type >= 32 && (rest_.size() < 2 || rest_[1] < 2 || rest_[1] > rest_.size()))
      return stop(End::overrun);
    const std::size_t length = type < 32 ? 1 : rest_[1];
    out = {type, mandatory, type < 32 ? rest_.first(0) : rest_.subspan(2, length - 2)};
    rest_ = rest_.subspan(length);
    return true;
  }
  return mandatory ? stop(End::mandatory) : false;
}

std::optional<std::uint32_t> timestamp(std::span<const std::uint8_t> options) {
  if (lone_timestamp(options)) return load_be32(options.data() + 2);
  OptionReader reader(options);
  for (Option o; reader.next(o);)
    if (o.type == kTimestamp && o.data.size() == 4) return load_be32(o.data.data());
  return std::nullopt;
}

void OptionWriter::put(std::uint8_t type, std::span<const std::uint8_t> data) {
  at_[0] = type;
  at_[1] = static_cast<std::uint8_t>(data.size() + 2);
  if (!data.empty()) std::memcpy(at_ + 2, data.data(), data.size());
  at_ += data.size() + 2;
}

void OptionWriter::put32(std::uint8_t type, std::uint32_t value) {
  at_[0] = type;
  at_[1] = 6;
  store(at_ + 2, __builtin_bswap32(value));
  at_ += 6;
}

void OptionWriter::raw(std::span<const std::uint8_t> whole_options) {
  if (!whole_options.empty()) std::memcpy(at_, whole_options.data(), whole_options.size());
  at_ += whole_options.size();
}

void OptionWriter::timestamp_echo(std::uint32_t timestamp, std::uint32_t elapsed) {
  at_[0] = kTimestampEcho;
  at_[1] = 10;
  store(at_ + 2, __builtin_bswap32(timestamp));
  store(at_ + 6, __builtin_bswap32(elapsed));
  at_ += 10;
}

void OptionWriter::loss_intervals(std::uint8_t skip_length) {
  intervals_ = at_;
  put(kLossIntervals, {&skip_length, 1});
}

void OptionWriter::interval(std::uint32_t lossless, std::uint32_t loss, std::uint32_t data) {
  const auto put24 = [this](std::uint32_t v) {
    *at_++ = static_cast<std::uint8_t>(v >> 16);
    *at_++ = static_cast<std::uint8_t>(v >> 8);
    *at_++ = static_cast<std::uint8_t>(v);
  };
  put24(lossless);
  put24(loss);
  put24(data);
  intervals_[1] = static_cast<std::uint8_t>(intervals_[1] + 9);
}

std::size_t OptionWriter::finish() {
  while ((at_ - begin_) % 4 != 0) *at_++ = kPadding;
  return static_cast<std::size_t>(at_ - begin_);
}

PacketWriter::PacketWriter(const Tuple& tuple, UdpPorts udp)
    : ip_(tuple, udp.local != 0 ? std::uint8_t{17} : kProtocol),
      ports_(std::uint32_t{swap16(tuple.local_port)} | std::uint32_t{swap16(tuple.remote_port)} << 16),
      udp_(udp) {}

// Ports, data offset, CCVal, full coverage, and a checksum still to come.
std::uint64_t PacketWriter::first_word(std::size_t header, std::uint8_t ccval) const {
  return ports_ | static_cast<std::uint64_t>(header / 4) << 32 | std::uint64_t{ccval & 15u} << 44;
}

void PacketWriter::seal(Slot& slot, Sum dccp, std::size_t dccp_length, std::uint8_t dscp) const {
  std::uint8_t* const p = slot.data + offset();
  Sum s = dccp;
  s.add(ip_.pseudo(dccp_length));
  // The flow's pseudo header has UDP's protocol number; DCCP's checksum is computed with its own, so that it
  // stays what RFC 4340 says although the peer has no use for it.
  if (in_udp()) s.add(std::uint64_t{kProtocol - 17} << 8);
  const std::uint16_t checksum = s.checksum_field();
  store(p + 6, checksum);
  std::size_t payload = dccp_length;
  if (in_udp()) {
    payload += 8;
    std::uint8_t* const udp = p - 8;
    const std::uint64_t head = std::uint64_t{swap16(udp_.local)} | std::uint64_t{swap16(udp_.remote)} << 16 |
                               std::uint64_t{swap16(static_cast<std::uint16_t>(payload))} << 32;
    Sum u = dccp;
    u.add(ip_.pseudo(payload));
    u.add(head);
    u.add(std::uint64_t{checksum});
    const std::uint16_t field = u.checksum_field();
    store(udp, head);
    store(udp + 6, field != 0 ? field : std::uint16_t{0xffff});
  }
  ip_.write(slot.data, payload, dscp);
  slot.length = static_cast<std::uint32_t>(ip_.header_length() + payload);
}

void PacketWriter::write(Slot& slot, const Packet& p, std::span<const std::uint8_t> options,
                         std::uint8_t dscp) const {
  std::uint8_t* const to = slot.data + offset();
  const std::size_t fixed = header_length(p.type), header = fixed + options.size();
  store(to, first_word(header, p.ccval));
  store(to + 8, second_word(p.type, p.sequence));
  write_variable_header(to, p);
  if (!options.empty()) std::memcpy(to + fixed, options.data(), options.size());
  Sum s;
  s.add({to, header});
  seal(slot, s, header, dscp);
}

// Each word is stored and added from its register: through an array it would be stored and at once loaded in
// another width, which stalls.
void PacketWriter::write_data(Slot& slot, std::uint64_t sequence, std::uint8_t ccval, std::uint32_t timestamp,
                              std::uint32_t length, std::uint8_t dscp) const {
  std::uint8_t* const to = slot.data + offset();
  Sum s;
  put(to, s, first_word(kDataHeader, ccval));
  put(to + 8, s, second_word(Type::data, sequence));
  put(to + 16, s, timestamp_word(timestamp));
  std::memset(to + kDataHeader, 0, length - offset() - kDataHeader);
  seal(slot, s, length - offset(), dscp);
}

void PacketWriter::write_data_ack(Slot& slot, std::uint64_t sequence, std::uint64_t ack, std::uint8_t ccval,
                                  std::uint32_t timestamp, std::uint32_t length, std::uint8_t dscp) const {
  std::uint8_t* const to = slot.data + offset();
  Sum s;
  put(to, s, first_word(kDataAckHeader, ccval));
  put(to + 8, s, second_word(Type::data_ack, sequence));
  put(to + 16, s, __builtin_bswap64(ack & kSequenceMask));
  put(to + 24, s, timestamp_word(timestamp));
  std::memset(to + kDataAckHeader, 0, length - offset() - kDataAckHeader);
  seal(slot, s, length - offset(), dscp);
}

}  // namespace surety::endpoints::dccp
