// SPDX-License-Identifier: BSD-3-Clause
// Frames on the lab's links: Ethernet, up to two tags, the IP packet.
#pragma once

#include <rte_mbuf.h>

#include <cstdint>

#include "config/vlan_protocol.h"
#include "router/pipeline/wire/bytes.h"

namespace surety::lab {

inline constexpr std::size_t kEthernet = 14, kTag = 4;

// Where its IP packet begins.
inline std::size_t ip_offset(const std::uint8_t* frame) {
  std::size_t at = kEthernet;
  while (at < kEthernet + 2 * kTag) {
    if (!is_vlan_tag(load_be16(frame + at - 2))) break;
    at += kTag;
  }
  return at;
}
inline std::uint32_t ip_length(const rte_mbuf* m) {
  return m->pkt_len - static_cast<std::uint32_t>(ip_offset(rte_pktmbuf_mtod(m, const std::uint8_t*)));
}

}  // namespace surety::lab
