// SPDX-License-Identifier: BSD-3-Clause
// Single fields of headers as bytes: an Ethernet header without VLAN tags, and an IP header that has passed
// parse().
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "config/address.h"
#include "router/pipeline/wire/bytes.h"

namespace surety {

inline constexpr std::size_t kEthernetHeader = 14;
inline constexpr MacAddress kBroadcastMac{0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

enum Ethertype : std::uint16_t { kIpv4Type = 0x0800, kArpType = 0x0806, kIpv6Type = 0x86dd };

inline std::uint8_t* write_ethernet(std::uint8_t* frame, const MacAddress& to, const MacAddress& from,
                                    Ethertype type) {
  std::memcpy(frame, to.data(), 6);
  std::memcpy(frame + 6, from.data(), 6);
  store(frame + 12, swap16(type));
  return frame + kEthernetHeader;
}
inline MacAddress read_mac(const std::uint8_t* p) {
  MacAddress mac;
  std::memcpy(mac.data(), p, 6);
  return mac;
}

inline bool is_v6(const std::uint8_t* ip) {
  return ip[0] >> 4 == 6;
}

// DSCP << 2 | ECN.
inline std::uint8_t traffic_class(const std::uint8_t* ip) {
  return is_v6(ip) ? static_cast<std::uint8_t>(ip[0] << 4 | ip[1] >> 4) : ip[1];
}

constexpr std::size_t address_bytes(bool v6) {
  return v6 ? 16 : 4;
}
// The offset of the source address in an IP header; the destination follows it.
constexpr std::size_t addresses_at(bool v6) {
  return v6 ? 8 : 12;
}
inline IpAddress source_of(const std::uint8_t* ip) {
  const bool v6 = is_v6(ip);
  return IpAddress::load(ip + addresses_at(v6), v6);
}
inline IpAddress destination_of(const std::uint8_t* ip) {
  const bool v6 = is_v6(ip);
  return IpAddress::load(ip + addresses_at(v6) + address_bytes(v6), v6);
}

}  // namespace surety
