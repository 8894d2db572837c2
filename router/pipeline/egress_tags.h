// SPDX-License-Identifier: BSD-3-Clause
// VLAN tags of outgoing frames: a frame is queued untagged and gets its tags on the way to the device, so
// that all code before finds the IP header at one offset.
//
// Before that the mbuf has notes of the egress interface and its tags (mbuf_notes.h).
#pragma once

#include <rte_ether.h>
#include <rte_mbuf.h>

#include <array>
#include <cstring>
#include <optional>

#include "router/pipeline/flows/mbuf_notes.h"
#include "router/pipeline/wire/bytes.h"
#include "router/pipeline/wire/header_fields.h"

namespace surety {

// 802.1Q priorities indexed by DSCP (`pcp:`); all 0 without `pcp:`.
using Priorities = std::array<std::uint8_t, 64>;

// The DSCP of a frame, from its Ethertype and the two bytes behind it, as loaded; `own` if it is not IP.
inline std::uint8_t dscp_of(std::uint32_t type_and_ip, std::uint8_t own) {
  const auto type = static_cast<std::uint16_t>(type_and_ip);
  if (type == rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4)) [[likely]]
    return static_cast<std::uint8_t>(type_and_ip >> 26);
  if (type != rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV6)) [[unlikely]]
    return own;
  return static_cast<std::uint8_t>(__builtin_bswap32(type_and_ip) >> 6 & 63);
}

// Writes the tags of a frame's interface into the frame; false: it has no headroom. `own_dscp`: of the
// router, which alone sends frames that are not IP.
inline bool write_tags(rte_mbuf* m, const Priorities& priorities, std::uint8_t own_dscp = 48) {
  m->ol_flags &= ~RTE_MBUF_F_TX_VLAN;
  const auto tags = noted_tags(m);
  if (!tags.any()) return true;
  auto* const frame = rte_pktmbuf_mtod(m, std::uint8_t*);
  // Copied in whole words, whatever the number of bytes.
  const auto destination = load<std::uint64_t>(frame);  // destination and the first two bytes of the source
  const auto source = load<std::uint32_t>(frame + 8), behind = load<std::uint32_t>(frame + 12);
  auto* const start = reinterpret_cast<std::uint8_t*>(rte_pktmbuf_prepend(m, tags.bytes()));
  if (start == nullptr) return false;
  store(start, destination);
  store(start + 8, source);
  store(start + 12, tags.in_frame(priorities[dscp_of(behind, own_dscp)]));
  store(frame + 12, behind);  // one tag was written as two
  return true;
}

}  // namespace surety
