// SPDX-License-Identifier: BSD-3-Clause
// VLAN tags of outgoing frames: a frame is queued untagged and gets its tags on the way to the device, so
// that all code before finds the IP header at one offset.
//
// Before that the mbuf contains the outgoing interface and its tags, since a reload may have removed the
// interface when the frame leaves: RTE_MBUF_F_TX_VLAN in `ol_flags`, its index in `vlan_tci`, its tags in
// `hash.usr`. Without the flag the frame leaves by the port itself, untagged.
#pragma once

#include <rte_ether.h>
#include <rte_mbuf.h>

#include <array>
#include <cstring>
#include <optional>

#include "router/pipeline/interfaces/interface_record.h"
#include "router/pipeline/wire/bytes.h"
#include "router/pipeline/wire/ip_bytes.h"

namespace surety {

inline void set_interface(rte_mbuf* m, InterfaceIndex interface, VlanTags tags) {
  m->ol_flags |= RTE_MBUF_F_TX_VLAN;
  m->vlan_tci = interface;
  m->hash.usr = tags.word();
}
inline bool has_interface(const rte_mbuf* m) {
  return (m->ol_flags & RTE_MBUF_F_TX_VLAN) != 0;
}
inline InterfaceIndex interface_of(const rte_mbuf* m, InterfaceIndex port) {
  return has_interface(m) ? m->vlan_tci : port;
}
inline void copy_interface(const rte_mbuf* from, rte_mbuf* to) {
  if (has_interface(from)) set_interface(to, from->vlan_tci, VlanTags::of_word(from->hash.usr));
}

// 802.1Q priorities indexed by DSCP (`pcp:`); all 0 without `pcp:`.
using Priorities = std::array<std::uint8_t, 64>;

// The DSCP of a frame, from its Ethertype and the two bytes behind it, as loaded.
inline std::uint8_t dscp_of(std::uint32_t type_and_ip) {
  constexpr std::uint8_t kCs6 = 48;  // for frames that are not IP
  const auto type = static_cast<std::uint16_t>(type_and_ip);
  if (type == rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4)) return static_cast<std::uint8_t>(type_and_ip >> 26);
  if (type != rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV6)) return kCs6;
  return static_cast<std::uint8_t>(__builtin_bswap32(type_and_ip) >> 6 & 63);
}

// Writes the tags of a frame's interface into the frame; false: it has no headroom.
inline bool write_tags(rte_mbuf* m, const Priorities& priorities) {
  m->ol_flags &= ~RTE_MBUF_F_TX_VLAN;
  auto* const frame = rte_pktmbuf_mtod(m, std::uint8_t*);
  const auto tags = VlanTags::of_word(m->hash.usr);
  // Copied in whole words, whatever the number of bytes.
  const auto destination = load<std::uint64_t>(frame);  // destination and the first two bytes of the source
  const auto source = load<std::uint32_t>(frame + 8), behind = load<std::uint32_t>(frame + 12);
  auto* const start = reinterpret_cast<std::uint8_t*>(rte_pktmbuf_prepend(m, tags.bytes()));
  if (start == nullptr) return false;
  store(start, destination);
  store(start + 8, source);
  store(start + 12, tags.in_frame(priorities[dscp_of(behind)]));
  store(frame + 12, behind);  // one tag was written as two
  return true;
}

}  // namespace surety
