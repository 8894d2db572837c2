// SPDX-License-Identifier: BSD-3-Clause
// Tag protocol identifiers (TPID) of VLAN tags: those of IEEE 802.1Q and 802.1ad, and the two that devices
// used for outer tags before 802.1ad.
#pragma once

#include <array>
#include <cstdint>

namespace surety {

inline constexpr std::uint16_t kCustomerTag = 0x8100, kServiceTag = 0x88a8;
inline constexpr std::array<std::uint16_t, 4> kTagProtocols{kCustomerTag, kServiceTag, 0x9100, 0x9200};

constexpr bool is_vlan_tag(std::uint16_t ethertype) {
  if (ethertype == kCustomerTag) [[likely]]
    return true;
  return ethertype == kServiceTag || ethertype == kTagProtocols[2] || ethertype == kTagProtocols[3];
}

}  // namespace surety
