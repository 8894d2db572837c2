// SPDX-License-Identifier: BSD-3-Clause
// Up to 64 packets on their way through the ingress stages: a structure of arrays, compacted after each stage
// so that the next stage reads only the remaining packets.
#pragma once

#include <immintrin.h>
#include <rte_mbuf.h>

#include <array>
#include <cstdint>

#include "conditioners/packet.h"
#include "router/pipeline/flows/flow_table.h"
#include "router/pipeline/routes/route_events.h"
#include "router/pipeline/wire/headers.h"

namespace surety {

using PortIndex = std::uint8_t;
inline constexpr std::uint8_t kKeepDscp = 0xff;

// Lanes (positions) of a `Burst`, or of a part of it, one bit each.
using LaneMask = std::uint64_t;
static_assert(kBurst == 64);
constexpr LaneMask first_lanes(std::size_t n) {
  return n == 0 ? 0 : ~LaneMask{0} >> (kBurst - n);
}
// The lanes of `value`. Reads all bytes, also uninitialised ones.
inline LaneMask lanes_with(std::uint8_t value, const std::array<std::uint8_t, kBurst>& bytes) {
  const auto half = [&](std::size_t at) {
    const __m256i there = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes.data() + at));
    const __m256i equal = _mm256_cmpeq_epi8(there, _mm256_set1_epi8(static_cast<char>(value)));
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(equal));
  };
  return half(0) | LaneMask{half(32)} << 32;
}

struct Burst {
  std::size_t size = 0;
  std::array<rte_mbuf*, kBurst> mbuf;
  std::array<ParsedPacket, kBurst> header;
  std::array<FlowId, kBurst> flow;            // kNoFlow: no record
  std::array<std::uint16_t, kBurst> service;  // index into Snapshot::services
  std::array<std::uint32_t, kBurst> route;    // RouteTarget::encode(), of one next hop
  std::array<PortIndex, kBurst> egress;
  std::array<std::uint8_t, kBurst> mark;  // DSCP to write, or kKeepDscp
  std::array<Precedence, kBurst> precedence;

  // DSCP << 2 | ECN, as in the packet's frame after the rewrite.
  std::uint8_t traffic_class(std::size_t i) const {
    const std::uint8_t came = header[i].traffic_class, marked = mark[i];
    return marked == kKeepDscp ? came : static_cast<std::uint8_t>(marked << 2 | (came & 3));
  }
  bool full() const { return size == kBurst; }
  LaneMask all() const { return first_lanes(size); }
  LaneMask leaving_by(PortIndex port) const { return lanes_with(port, egress) & all(); }
  std::uint32_t next_hop(std::size_t i) const { return RouteTarget::decode(route[i]).first; }
  // Keeps packet `from` at position `to` <= `from`.
  void keep(std::size_t from, std::size_t to) {
    if (from == to) return;
    mbuf[to] = mbuf[from];
    header[to] = header[from];
    flow[to] = flow[from];
    service[to] = service[from];
    route[to] = route[from];
    egress[to] = egress[from];
    mark[to] = mark[from];
    precedence[to] = precedence[from];
  }
};

// The IP header of a parsed packet.
inline std::uint8_t* ip_header(rte_mbuf* m, std::size_t l3_offset) {
  return rte_pktmbuf_mtod_offset(m, std::uint8_t*, l3_offset);
}

}  // namespace surety
