// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/wire/host_messages.h"

#include <cstring>

#include "router/pipeline/wire/checksum.h"
#include "router/pipeline/wire/ip_writer.h"

namespace surety::arp {

namespace {

// Hardware type 1, protocol 0x0800, lengths 6 and 4.
constexpr std::uint64_t kPrefix = 0x0001'0800'0604;

}  // namespace

std::optional<Message> read(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < kLength || load_be64(bytes.data()) >> 16 != kPrefix) return std::nullopt;
  const std::uint8_t* const p = bytes.data();
  const auto operation = static_cast<Operation>(load_be16(p + 6));
  const bool group = (p[8] & 1) != 0;
  if (group || (operation != Operation::request && operation != Operation::reply)) return std::nullopt;
  return Message{operation, read_mac(p + 8), read_mac(p + 18), IpAddress::v4(load<std::uint32_t>(p + 14)),
                 IpAddress::v4(load<std::uint32_t>(p + 24))};
}

void write(std::uint8_t* frame, const MacAddress& to, const Message& m) {
  std::uint8_t* const p = write_ethernet(frame, to, m.sender_mac, kArpType);
  store(p, __builtin_bswap64(kPrefix << 16 | static_cast<std::uint64_t>(m.operation)));
  std::memcpy(p + 8, m.sender_mac.data(), 6);
  store(p + 14, m.sender.v4_as_loaded());
  std::memcpy(p + 18, m.target_mac.data(), 6);
  store(p + 24, m.target.v4_as_loaded());
}

}  // namespace surety::arp

namespace surety::nd {

namespace {

enum Type : std::uint8_t { kSolicitation = 135, kAdvertisement = 136 };
enum Option : std::uint8_t { kSourceLinkLayer = 1, kTargetLinkLayer = 2 };
constexpr std::size_t kMessage = 24, kOption = 8;

using Bytes16 = std::array<std::uint8_t, 16>;
bool unspecified(const IpAddress& a) {
  return a == IpAddress::unspecified(true);
}
bool multicast(const IpAddress& a) {
  return (a.high & 0xff) == 0xff;
}

// False: an option of no length, or beyond the end.
bool read_options(std::span<const std::uint8_t> options, std::uint8_t wanted, Message& m) {
  while (!options.empty()) {
    const std::size_t length = options.size() < 2 ? 0 : options[1] * std::size_t{8};
    if (length == 0 || length > options.size()) return false;
    if (options[0] == wanted && length == kOption) m.link_layer = read_mac(options.data() + 2);
    options = options.subspan(length);
  }
  return true;
}

bool checksum_good(const IpPacket& packet) {
  Sum s = pseudo_header(packet);
  s.add(packet.payload);
  return s.valid();
}

}  // namespace

std::optional<Message> read(const IpPacket& packet) {
  const std::span<const std::uint8_t> icmp = packet.payload;
  if (icmp.size() < kMessage || icmp[1] != 0) return std::nullopt;
  Message m;
  m.solicitation = icmp[0] == kSolicitation;
  if (!m.solicitation && icmp[0] != kAdvertisement) return std::nullopt;
  m.flags = m.solicitation ? std::uint8_t{0} : icmp[4];
  m.target = IpAddress::v6(icmp.data() + 8);
  if (!m.target.is_v6() || multicast(m.target) || !checksum_good(packet)) return std::nullopt;
  const std::uint8_t wanted = m.solicitation ? kSourceLinkLayer : kTargetLinkLayer;
  if (!read_options(icmp.subspan(kMessage), wanted, m)) return std::nullopt;
  const bool probe = m.solicitation && unspecified(packet.source);
  if (probe && (m.link_layer || packet.destination != solicited_node(m.target))) return std::nullopt;
  if (!m.solicitation && multicast(packet.destination) && (m.flags & kSolicitedFlag) != 0)
    return std::nullopt;
  return m;
}

void write(std::uint8_t* frame, const MacAddress& to, const MacAddress& from, const IpAddress& source,
           const IpAddress& destination, const Message& m) {
  std::uint8_t* const ip = write_ethernet(frame, to, from, kIpv6Type);
  IpWriter(Tuple{source, destination}, kIcmp6Protocol).write(ip, kMessage + kOption, 0);
  ip[7] = 255;
  std::uint8_t* const icmp = ip + 40;
  std::memset(icmp, 0, 8);
  icmp[0] = m.solicitation ? kSolicitation : kAdvertisement;
  icmp[4] = m.flags;
  std::memcpy(icmp + 8, m.target.data(), 16);
  icmp[24] = m.solicitation ? kSourceLinkLayer : kTargetLinkLayer;
  icmp[25] = 1;
  std::memcpy(icmp + 26, from.data(), from.size());
  Sum s = pseudo_header(source, destination, kIcmp6Protocol, kMessage + kOption);
  s.add({icmp, kMessage + kOption});
  store(icmp + 2, s.checksum_field());
}

IpAddress solicited_node(const IpAddress& a) {
  Bytes16 b{0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff};
  std::memcpy(&b[13], a.data() + 13, 3);
  return IpAddress::v6(b.data());
}

IpAddress all_nodes() {
  const Bytes16 b{0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  return IpAddress::v6(b.data());
}

MacAddress multicast_mac(const IpAddress& a) {
  const std::uint8_t* const b = a.data();
  return {0x33, 0x33, b[12], b[13], b[14], b[15]};
}

IpAddress link_local(const MacAddress& mac) {
  const auto universal = static_cast<std::uint8_t>(mac[0] ^ 2);
  const Bytes16 b{0xfe,      0x80,   0,      0,    0,    0,      0,      0,
                  universal, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]};
  return IpAddress::v6(b.data());
}

}  // namespace surety::nd

namespace surety::echo {

namespace {

// RFC 792: no pseudo header; RFC 4443 2.3: with it.
Sum initial_sum(const IpPacket& packet) {
  return packet.protocol == kIcmp6Protocol ? pseudo_header(packet) : Sum{};
}

}  // namespace

bool is_request(const IpPacket& packet) {
  constexpr std::uint8_t kEcho = 8, kEcho6 = 128;
  if (packet.payload.size() < 8 || packet.payload[1] != 0) return false;
  return packet.destination.is_v6() ? packet.protocol == kIcmp6Protocol && packet.payload[0] == kEcho6
                                    : packet.protocol == kIcmpProtocol && packet.payload[0] == kEcho;
}

bool reply(const IpPacket& request, Slot& slot) {
  constexpr std::uint8_t kReply = 0, kReply6 = 129;
  const std::size_t payload = request.payload.size();
  Sum in = initial_sum(request);
  in.add(request.payload);
  const IpWriter ip(Tuple{request.destination, request.source}, request.protocol);
  if (!in.valid() || ip.header_length() + payload > slot.capacity) return false;

  ip.write(slot.data, payload, request.dscp());
  std::uint8_t* const icmp = slot.data + ip.header_length();
  std::memcpy(icmp, request.payload.data(), payload);
  icmp[0] = request.protocol == kIcmp6Protocol ? kReply6 : kReply;
  icmp[2] = icmp[3] = 0;
  Sum out = initial_sum(request);  // the pseudo header is the same for both directions
  out.add({icmp, payload});
  store(icmp + 2, out.checksum_field());
  slot.length = static_cast<std::uint32_t>(ip.header_length() + payload);
  return true;
}

}  // namespace surety::echo
