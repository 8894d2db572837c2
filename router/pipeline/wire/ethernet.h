// SPDX-License-Identifier: BSD-3-Clause
// Ethernet headers as bytes (no VLAN tags).
#pragma once

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

}  // namespace surety
