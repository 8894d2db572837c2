// SPDX-License-Identifier: BSD-3-Clause
// Identifies DHCP packets by their ports: RFC 2131 4.1, RFC 8415 7.2. Fragments have no ports.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "config/address.h"
#include "router/pipeline/wire/bytes.h"
#include "router/pipeline/wire/checksum.h"
#include "router/pipeline/wire/headers.h"

namespace surety::dhcp {

inline constexpr std::uint8_t kRequest = 1, kReply = 2;  // the first byte of a DHCPv4 message
inline constexpr std::size_t kUdpHeader = 8, kTransaction = 4, kHardware = 28;  // offsets in a DHCPv4 message

inline bool has_ports(const FlowKey& key, std::uint16_t from, std::uint16_t to) {
  constexpr std::uint64_t kClass = std::uint64_t{7} << 61, kPorts = 0xffff'ffff;
  const std::uint32_t ports = swap16(from) | std::uint32_t{swap16(to)} << 16;
  return (key.rest & (kClass | kPorts)) == (static_cast<std::uint64_t>(FlowKey::Class::udp) << 61 | ports);
}

// A packet of a client to servers and relays, and one of them to a client.
inline bool from_client(const FlowKey& key) {
  return key.v6 ? has_ports(key, 546, 547) : has_ports(key, 68, 67);
}
inline bool to_client(const FlowKey& key) {
  return key.v6 ? has_ports(key, 547, 546) : has_ports(key, 67, 68);
}

// True if a DHCPv4 message, from its UDP header on, is about the client of that hardware address.
inline bool concerns(std::span<const std::uint8_t> udp, const MacAddress& client) {
  constexpr std::size_t kAt = kUdpHeader + kHardware;
  return udp.size() >= kAt + client.size() && std::equal(client.begin(), client.end(), &udp[kAt]);
}

// Makes a DHCPv4 answer to one address the broadcast that the server could have sent (RFC 2131 4.1). `ip`: a
// valid packet with a whole UDP header.
inline void to_broadcast(std::span<std::uint8_t> ip) {
  const std::size_t header = (ip[0] & 0xfu) * std::size_t{4};
  store(&ip[16], std::uint32_t{0xffff'ffff});
  store(&ip[header + 6], std::uint16_t{0});  // no UDP checksum (RFC 768)
  store(&ip[10], std::uint16_t{0});
  Sum sum;
  sum.add(ip.first(header));
  store(&ip[10], sum.checksum_field());
}

}  // namespace surety::dhcp
