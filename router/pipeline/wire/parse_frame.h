// SPDX-License-Identifier: BSD-3-Clause
// Common parts of the parsers of headers.h: the current frame, the flow key, the transport checks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "router/pipeline/wire/bytes.h"
#include "router/pipeline/wire/headers.h"

namespace surety::detail {

inline constexpr std::size_t kEthernetHeader = 14;
inline constexpr std::uint16_t kIpv4 = 0x0800, kIpv6 = 0x86dd;  // Ethertypes

// The port's own MAC address as the low 48 bits of a load.
inline std::uint64_t own_mac(const ParseContext& context) {
  return load<std::uint32_t>(context.mac.data()) |
         static_cast<std::uint64_t>(load<std::uint16_t>(context.mac.data() + 4)) << 32;
}

constexpr ParseOutcome dropped(DropReason reason) {
  return {reason, PuntReason::none};
}
constexpr ParseOutcome punted(PuntReason reason) {
  return {DropReason::none, reason};
}

struct Frame {
  const std::uint8_t* bytes = nullptr;
  std::size_t size = 0;
  std::size_t l3 = 0;  // never above size
  std::uint16_t vlan = 0, inner_vlan = 0;

  const std::uint8_t* ip() const { return bytes + l3; }
  std::size_t available() const { return size - l3; }
  bool to_group() const { return (bytes[0] & 1) != 0; }  // link-layer multicast or broadcast
};

enum Protocol : std::uint8_t {
  kHopByHop = 0,
  kIcmp = 1,
  kTcp = 6,
  kUdp = 17,
  kDccp = 33,
  kRouting = 43,
  kFragment = 44,
  kAuthentication = 51,
  kIcmp6 = 58,
  kDestinationOptions = 60,
  kSctp = 132,
};

// A port's part of the flow key, prepared once for many packets.
struct KeyTerms {
  KeyTerms(const ParseContext& context)  // NOLINT(google-explicit-constructor): says the same
      : port(static_cast<std::uint64_t>(context.port) << 56),
        interface(static_cast<std::uint64_t>(context.port) << 48),
        dscp_mask(context.match_dscp ? 0x3f : 0) {}
  std::uint64_t port, interface;
  std::uint8_t dscp_mask;
};

// `low` is both ports as loaded, or the protocol number.
[[gnu::always_inline]] inline std::uint64_t key_rest(FlowKey::Class c, const KeyTerms& terms, const Frame& f,
                                                     std::uint32_t low) {
  return static_cast<std::uint64_t>(c) << 61 | terms.port | static_cast<std::uint64_t>(f.vlan) << 44 |
         static_cast<std::uint64_t>(f.inner_vlan) << 32 | low;
}

inline std::uint8_t key_dscp(const KeyTerms& terms, std::uint32_t traffic_class) {
  return static_cast<std::uint8_t>(traffic_class >> 2 & terms.dscp_mask);
}

inline void fill_link(const Frame& f, ParsedPacket& out) {
  out.vlan = f.vlan;
  out.inner_vlan = f.inner_vlan;
  out.l3_offset = static_cast<std::uint8_t>(f.l3);
}

// Fills all of `out` except the rest and the addresses of the key, for a packet with ports, in three stores
// instead of fifteen.
[[gnu::always_inline]] inline void fill_words(const KeyTerms& terms, const Frame& f, bool v6,
                                              std::size_t length, std::size_t l4_offset,
                                              std::uint64_t protocol, std::uint64_t traffic_class,
                                              std::uint64_t ttl, ParsedPacket& out) {
  static_assert(offsetof(FlowKey, v6) == offsetof(FlowKey, dscp) + 1 &&
                sizeof(FlowKey) >= offsetof(FlowKey, dscp) + 8);
  static_assert(offsetof(ParsedPacket, vlan) == offsetof(ParsedPacket, length) + 2 &&
                offsetof(ParsedPacket, inner_vlan) == offsetof(ParsedPacket, length) + 4 &&
                offsetof(ParsedPacket, l4_offset) == offsetof(ParsedPacket, length) + 6 &&
                offsetof(ParsedPacket, l3_offset) == offsetof(ParsedPacket, length) + 8 &&
                offsetof(ParsedPacket, protocol) == offsetof(ParsedPacket, length) + 9 &&
                offsetof(ParsedPacket, traffic_class) == offsetof(ParsedPacket, length) + 10 &&
                offsetof(ParsedPacket, ttl) == offsetof(ParsedPacket, length) + 11 &&
                offsetof(ParsedPacket, v6) == offsetof(ParsedPacket, length) + 12 &&
                offsetof(ParsedPacket, fragment) == offsetof(ParsedPacket, length) + 13 &&
                offsetof(ParsedPacket, interface) == offsetof(ParsedPacket, length) + 14 &&
                sizeof(ParsedPacket) >= offsetof(ParsedPacket, length) + 16);
  const std::uint64_t family = v6;
  // Derived from the whole object: from a member's address a compiler assumes that only the member is
  // written.
  auto* const key = reinterpret_cast<std::uint8_t*>(&out.key) + offsetof(FlowKey, dscp);
  auto* const words = reinterpret_cast<std::uint8_t*>(&out) + offsetof(ParsedPacket, length);
  store(key, key_dscp(terms, static_cast<std::uint32_t>(traffic_class)) | family << 8);
  store(words, std::uint64_t{length} | std::uint64_t{f.vlan} << 16 | std::uint64_t{f.inner_vlan} << 32 |
                   std::uint64_t{l4_offset} << 48);
  store(words + 8, std::uint64_t{f.l3} | protocol << 8 | traffic_class << 16 | ttl << 24 | family << 32 |
                       terms.interface);
}

// True if the header of TCP or UDP and its length lie within the `payload` bytes at `l4`. Both in one piece
// of branch-free code, because traffic is a mixture of the two that no branch predictor can foresee.
inline bool tcp_or_udp_fits(bool tcp, const std::uint8_t* l4, std::size_t payload) {
  const std::size_t minimum = tcp ? 20 : 8;
  if (payload < minimum) [[unlikely]]
    return false;
  const std::size_t word = load_be16(l4 + (tcp ? 12 : 4));
  const std::size_t stated = tcp ? word >> 12 << 2 : word;
  return stated >= minimum && stated <= payload;
}

// True if the header of any transport protocol fits into the `payload` bytes at `l4`, as in
// tcp_or_udp_fits(); true for protocols without checks.
bool transport_fits(std::uint8_t protocol, const std::uint8_t* l4, std::size_t payload);

// A fragment's place. `end` is where the whole datagram would end if this were its last
// fragment, headers included.
struct Fragment {
  std::size_t offset = 0;  // bytes
  std::size_t payload = 0, end = 0;
};
bool fragment_possible(const Fragment& fragment, std::uint8_t protocol);

// Class and low half of the key; for fragments without ports.
std::uint64_t transport_key(const ParseContext& context, const Frame& f, bool fragment, std::uint8_t protocol,
                            const std::uint8_t* l4);

}  // namespace surety::detail
