// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/icmp_error.h"

#include <algorithm>

#include "router/pipeline/wire/bytes.h"
#include "router/pipeline/wire/header_fields.h"
#include "router/pipeline/wire/ip_writer.h"

namespace surety {

using Result = IcmpErrorResult;

namespace {

constexpr std::uint8_t kIcmp = 1, kIcmp6 = 58;
constexpr std::size_t kIcmpHeader = 8, kMost4 = 576, kMost6 = 1280;
constexpr std::size_t kShort4 = 60 + 8,
                      kShort6 = 40 + 8;  // the largest header, and the payload that RFC 792 requires

// The packet in question.
struct QuotedPacket {
  bool v6;
  std::size_t length;  // in its header
  std::span<const std::uint8_t> ip;
  IpAddress source;

  explicit QuotedPacket(std::span<const std::uint8_t> from_l3) : v6(from_l3[0] >> 4 == 6) {
    const std::uint8_t* const p = from_l3.data();
    length = v6 ? load_be16(p + 4) + std::size_t{40} : load_be16(p + 2);
    ip = from_l3.first(std::min(length, from_l3.size()));
    source = source_of(p);
  }

  bool dont_fragment() const { return v6 || (ip[6] & 0x40) != 0; }
  bool later_fragment() const { return !v6 && (load_be16(ip.data() + 6) & 0x1fff) != 0; }
  // True for an ICMP message other than a query: errors are not answered with errors. IPv6 extension headers
  // are not skipped: routers send errors without them.
  bool is_icmp_error() const {
    const std::size_t header = v6 ? 40 : (ip[0] & 0xfu) * 4;
    if (ip[v6 ? 6 : 9] != (v6 ? kIcmp6 : kIcmp) || ip.size() <= header) return false;
    const std::uint8_t type = ip[header];
    if (v6) return type < 128 || type == 137;
    return type == 3 || type == 4 || type == 5 || type == 11 || type == 12;
  }
};

// Types and codes by IcmpProblem (RFC 792, RFC 1812 5.2.7.1, RFC 4443 3).
struct Message {
  struct TypeAndCode {
    std::uint8_t type, code;
  } v4, v6;
  Result said;
};
constexpr Message kMessages[] = {
    {{11, 0}, {3, 0}, Result::time_exceeded},   {{3, 4}, {2, 0}, Result::too_big},
    {{3, 1}, {1, 3}, Result::host_unreachable}, {{3, 0}, {1, 0}, Result::net_unreachable},
    {{3, 13}, {1, 1}, Result::prohibited},      {{3, 13}, {1, 5}, Result::source_refused},
    {{3, 3}, {1, 4}, Result::port_unreachable},
};
const Message& message_of(IcmpProblem problem) {
  return kMessages[static_cast<std::size_t>(problem)];
}

constexpr std::size_t kShortestQuote = 128;  // before an extension (RFC 4884 5)
constexpr std::size_t kExtensionHeader = 4, kObjectHeader = 4, kLongestName = 63;

// RFC 5837 4: the ingress interface with its address, name and MTU. Returns the length.
std::size_t write_extension(std::uint8_t* at, const InterfaceInformation& told, const IpAddress& own) {
  constexpr std::uint8_t kInterface = 2, kAddressNameMtu = 0x07;
  std::uint8_t* p = at + kExtensionHeader + kObjectHeader;
  const auto put16 = [&](std::uint16_t value) { store(p, swap16(value)), p += 2; };
  put16(own.is_v6() ? 2 : 1);  // address family numbers
  put16(0);
  p = std::copy_n(own.data(), own.size(), p);
  const std::string_view name = told.name.substr(0, kLongestName);
  const std::size_t room = (1 + name.size() + 3) / 4 * 4;
  std::memset(p, 0, room);
  p[0] = static_cast<std::uint8_t>(room);
  std::ranges::copy(name, p + 1);
  p += room;
  put16(static_cast<std::uint16_t>(told.mtu >> 16));
  put16(static_cast<std::uint16_t>(told.mtu));
  const auto length = static_cast<std::size_t>(p - at);
  const std::uint8_t header[] = {0x20, 0, 0, 0, 0, 0, kInterface, kAddressNameMtu};
  std::ranges::copy(header, at);
  store(at + 4, swap16(static_cast<std::uint16_t>(length - kExtensionHeader)));
  Sum sum;
  sum.add({at, length});
  store(at + 2, sum.checksum_field());
  return length;
}

// The MTU in the error. A sender ignores an IPv6 MTU below 1280 (RFC 8201 4): it gets 1280 about larger
// packets, and the MTU itself about others, as from Linux (ip6_forward(), ip6_fragment()).
std::uint16_t told_mtu(std::uint16_t mtu, const QuotedPacket& about) {
  constexpr std::uint16_t kLeast6 = 1280;  // RFC 8200 5
  return about.v6 && about.length > kLeast6 ? std::max(mtu, kLeast6) : mtu;
}

// Returns the length of the ICMP message; `most`: its maximum.
std::size_t write_message(std::uint8_t* icmp, std::size_t most, IcmpProblem problem, std::uint16_t mtu,
                          const IpAddress& own, const QuotedPacket& about, const InterfaceInformation* told) {
  const auto [type, code] = about.v6 ? message_of(problem).v6 : message_of(problem).v4;
  std::memset(icmp, 0, kIcmpHeader);
  icmp[0] = type;
  icmp[1] = code;
  if (problem == IcmpProblem::too_big) {
    store(icmp + 6, swap16(told_mtu(mtu, about)));  // RFC 1191 4, RFC 4443 3.2
    told = nullptr;                                 // ICMPv6's has no length field
  }
  std::uint8_t* const quote = icmp + kIcmpHeader;
  if (told == nullptr) {
    const auto quoted = about.ip.first(std::min(about.ip.size(), most - kIcmpHeader));
    std::ranges::copy(quoted, quote);
    return kIcmpHeader + quoted.size();
  }
  constexpr std::size_t kLongest = kExtensionHeader + kObjectHeader + 4 + 16 + 64 + 4;
  const std::size_t unit = about.v6 ? 8 : 4;
  const std::size_t fits = (most - kIcmpHeader - kLongest) / unit * unit;
  const std::size_t quoted = std::min(about.ip.size(), fits);
  const std::size_t padded = std::max(kShortestQuote, (quoted + unit - 1) / unit * unit);
  std::memset(quote, 0, padded);
  std::ranges::copy(about.ip.first(quoted), quote);
  icmp[about.v6 ? 4 : 5] = static_cast<std::uint8_t>(padded / unit);
  return kIcmpHeader + padded + write_extension(quote + padded, *told, own);
}

// Returns the length of the IP packet. Not `whole`: it quotes little.
std::size_t write(std::uint8_t* ip, IcmpProblem problem, std::uint16_t mtu, const IpAddress& own,
                  std::uint8_t dscp, const QuotedPacket& about, const InterfaceInformation* told,
                  bool whole) {
  const IpWriter header({own, about.source}, about.v6 ? kIcmp6 : kIcmp);
  const std::size_t most = whole ? (about.v6 ? kMost6 : kMost4) - header.header_length()
                                 : kIcmpHeader + (about.v6 ? kShort6 : kShort4);
  std::uint8_t* const icmp = ip + header.header_length();
  const std::size_t length = write_message(icmp, most, problem, mtu, own, about, whole ? told : nullptr);
  header.write(ip, length, dscp);
  Sum sum = about.v6 ? header.pseudo(length) : Sum{};
  sum.add({icmp, length});
  store(icmp + 2, sum.checksum_field());
  return header.header_length() + length;
}

}  // namespace

Result IcmpErrors::report(IcmpProblem problem, std::uint16_t mtu, std::span<const std::uint8_t> frame,
                          std::size_t l3_offset, Customer customer, const MacAddress& mac,
                          const PortAddresses& addresses, Slot& slot, Time now,
                          const InterfaceInformation* told) {
  slot.length = 0;
  const Result r = judge(problem, mtu, frame, l3_offset, customer, mac, addresses, slot, now, told);
  ++results_[static_cast<std::size_t>(r)];
  return r;
}

Result IcmpErrors::judge(IcmpProblem problem, std::uint16_t mtu, std::span<const std::uint8_t> frame,
                         std::size_t l3_offset, Customer customer, const MacAddress& mac,
                         const PortAddresses& addresses, Slot& slot, Time now,
                         const InterfaceInformation* told) {
  const QuotedPacket about(frame.subspan(l3_offset));
  const MacAddress to = read_mac(&frame[6]);
  const bool group = ((frame[0] | to[0]) & 1) != 0;
  if (group || about.later_fragment() || about.is_icmp_error()) return Result::not_answered;
  if (problem == IcmpProblem::too_big && !about.dont_fragment()) return Result::fragmentable;
  auto own = addresses.source_towards(about.source);
  if (!own && !about.v6) own = id_;
  if (!own) return Result::no_address;
  if (!limit_.permit(customer, now)) return Result::limited;
  std::uint8_t* const ip = write_ethernet(slot.data, to, mac, about.v6 ? kIpv6Type : kIpv4Type);
  const bool whole = long_.permit(customer, now);
  slot.length =
      static_cast<std::uint32_t>(kEthernetHeader + write(ip, problem, mtu, *own, dscp_, about, told, whole));
  return message_of(problem).said;
}

}  // namespace surety
