// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/control/best_effort.h"

#include <rte_ether.h>

#include <algorithm>
#include <cstddef>

#include "router/pipeline/wire/bytes.h"
#include "router/pipeline/wire/header_fields.h"
#include "router/pipeline/wire/rewrite.h"

namespace surety {

bool is_ip(std::span<const std::uint8_t> frame) {
  if (frame.size() < kEthernetHeader + 20) return false;
  const std::uint16_t type = load_be16(&frame[12]);
  return type == RTE_ETHER_TYPE_IPV4 || (type == RTE_ETHER_TYPE_IPV6 && frame.size() >= kEthernetHeader + 40);
}

void clear_dscp(std::span<std::uint8_t> ip) {
  if (traffic_class(ip.data()) >> 2 != 0) set_dscp(ip.data(), is_v6(ip.data()), 0);
}

bool is_answer(std::span<const std::uint8_t> ip) {
  constexpr std::uint8_t kIcmp = 1, kTcp = 6, kUdp = 17, kFragment = 44, kIcmp6 = 58, kReset = 0x04;
  const bool v6 = is_v6(ip.data());
  const std::uint8_t protocol = v6 ? ip[6] : ip[9];
  const auto l4 = ip.subspan(std::min(ip.size(), v6 ? std::size_t{40} : (ip[0] & 0xfu) * std::size_t{4}));
  // The kernel's ICMP fragments are answers to long pings: they carry no type behind the first one.
  if (v6 && protocol == kFragment) return !l4.empty() && l4[0] == kIcmp6;
  if (!v6 && protocol == kIcmp && (load_be16(&ip[6]) & 0x1fff) != 0) return true;
  if (l4.size() < 14 && protocol == kTcp) return false;
  if (l4.empty()) return false;
  if (protocol == kTcp) return (l4[13] & kReset) != 0;
  if (protocol == kUdp && l4.size() >= 2) return load_be16(l4.data()) == (v6 ? 547 : 67);
  if (v6 && protocol == kIcmp6) return l4[0] < 128 || l4[0] == 129;
  return !v6 && protocol == kIcmp && l4[0] != 8;
}

}  // namespace surety
