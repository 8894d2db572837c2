// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/parse_stage.h"

#include <rte_ether.h>
#include <rte_prefetch.h>

#include <array>
#include <cstddef>
#include <numeric>

#include "router/pipeline/signal_path.h"
#include "router/pipeline/wire/dhcp.h"
#include "router/pipeline/wire/ordinary_eight.h"
#include "router/pipeline/wire/parse_ordinary.h"

namespace surety {

namespace {
bool is_icmp(const ParsedPacket& h) {
  constexpr std::uint8_t kIcmp = 1, kIcmp6 = 58;
  return h.protocol == kIcmp || h.protocol == kIcmp6;
}

constexpr std::size_t kEight = OrdinaryEight::kPackets;

// Lengths of eight packets, as 32-bit numbers: total, and in their first buffers.
struct Lengths {
  __m256i packet, frame;
};

// Loads each mbuf once, and transposes the fields as those of frames (ordinary_eight.h).
[[gnu::always_inline]] inline Lengths lengths(rte_mbuf* const* m) {
  constexpr std::size_t kAt = offsetof(rte_mbuf, packet_type);
  static_assert(offsetof(rte_mbuf, pkt_len) == kAt + 4 && offsetof(rte_mbuf, data_len) == kAt + 8);
  const auto fields = [](const rte_mbuf* one) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(reinterpret_cast<const char*>(one) + kAt));
  };
  const auto two = [&](std::size_t i) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(fields(m[i])), fields(m[i + 4]), 1);
  };
  const __m256i r0 = two(0), r1 = two(1), r2 = two(2), r3 = two(3);
  const __m256i packet = _mm256_unpackhi_epi64(_mm256_unpacklo_epi32(r0, r1), _mm256_unpacklo_epi32(r2, r3));
  const __m256i frame = _mm256_unpacklo_epi64(_mm256_unpackhi_epi32(r0, r1), _mm256_unpackhi_epi32(r2, r3));
  return {packet, _mm256_and_si256(frame, _mm256_set1_epi32(0xffff))};
}

std::uint64_t sum_of(__m256i lanes) {
  alignas(32) std::array<std::uint32_t, 8> n;
  _mm256_store_si256(reinterpret_cast<__m256i*>(n.data()), lanes);
  return std::accumulate(n.begin(), n.end(), std::uint64_t{0});
}

// Frames being prefetched.
[[gnu::always_inline]] inline void fetch(rte_mbuf* const* m, OrdinaryEight::Frames& frames) {
  for (std::size_t j = 0; j < kEight; ++j) {
    frames[j] = rte_pktmbuf_mtod(m[j], const std::uint8_t*);
    rte_prefetch0(frames[j]);
  }
}

}  // namespace

ParseStage::ParseStage(const Snapshot& snapshot, const Fib& fib, std::span<const MacAddress> macs,
                       std::span<PortCounters> ports, PacketDisposal& disposal, InterfaceCounters* interfaces)
    : snapshot_(&snapshot),
      fib_(fib),
      disposal_(disposal),
      ports_(ports),
      macs_(macs),
      interfaces_(snapshot, interfaces) {
  for (std::size_t p = 0; p < snapshot.config.ports.size(); ++p)
    contexts_.push_back({macs[p], static_cast<PortIndex>(p), snapshot.classifier.uses_dscp(),
                         snapshot.config.ports[p].promiscuous});
}

void ParseStage::adopt(const Snapshot& snapshot) {
  snapshot_ = &snapshot;
  for (ParseContext& c : contexts_) {
    c.mac = macs_[c.port];
    c.promiscuous = snapshot.config.ports[c.port].promiscuous;
  }
  interfaces_.adopt(snapshot);
}

void ParseStage::run(Burst& v, std::span<rte_mbuf* const> burst, PortIndex port) {
  v.size = 0;
  icmp_ = false;
  std::uint64_t bytes = 0;
  if (interfaces_.any_on(port)) {
    bytes = parse_singly<true>(v, burst, port);
    interfaces_.count(v);
  } else {
    const std::size_t eights = burst.size() / kEight * kEight;
    bytes = parse_eights(v, burst.first(eights), port);
    bytes += parse_singly<false>(v, burst.subspan(eights), port);
  }
  ports_[port].rx_packets += burst.size();
  ports_[port].rx_bytes += bytes;
  if (snapshot_->interfaces->leased(port)) [[unlikely]]
    take_leases(v, port);
}

// No stage is inlined: in one large function the compiler runs out of registers in each of them. Returns the
// bytes received, as the next one.
[[gnu::noinline]] std::uint64_t ParseStage::parse_eights(Burst& v, std::span<rte_mbuf* const> burst,
                                                         PortIndex port) {
  if (burst.empty()) return 0;
  const OrdinaryEight eight(contexts_[port]);
  const OrdinaryParser ordinary(contexts_[port]);
  __m256i bytes = _mm256_setzero_si256();
  std::uint64_t bytes6 = 0;
  std::size_t kept = 0;
  OrdinaryEight::Frames next;
  fetch(burst.data(), next);
  for (std::size_t i = 0; i < burst.size(); i += kEight) {
    rte_mbuf* const* const m = &burst[i];
    const OrdinaryEight::Frames frames = next;
    if (i + kEight < burst.size()) fetch(m + kEight, next);
    const Lengths length = lengths(m);
    bytes = _mm256_add_epi32(bytes, length.packet);
    for (std::size_t j = 0; j < kEight; ++j) m[j]->port = port;  // from here on our index, not DPDK's
    OrdinaryEight::Found found;
    if (eight.reads(length.frame)) [[likely]]
      found = eight.check(frames, length.frame);
    if (found.v4 == 0xff) [[likely]] {
      for (std::size_t j = 0; j < kEight; ++j, ++kept) {
        v.mbuf[kept] = m[j];
        eight.write4(frames[j], found.class_and_port[j], v.header[kept]);
      }
      continue;
    }
    for (std::size_t j = 0; j < kEight; ++j) {
      v.mbuf[kept] = m[j];
      ParsedPacket& h = v.header[kept];
      if ((found.v4 >> j & 1) != 0)
        eight.write4(frames[j], found.class_and_port[j], h), ++kept;
      else
        kept += ((found.v6 >> j & 1) != 0 && eight.write6(frames[j], found.class_and_port[j], h)) ||
                ordinary(frames[j], m[j]->data_len, h) || parse_unusual(m[j], port, h);
    }
    if (found.v6 != 0xff) continue;
    const Taken more = parse_eights6(v, burst.subspan(i + kEight), kept, port);
    bytes6 += more.bytes;
    kept += more.packets;
    i += more.packets;
    if (i + kEight < burst.size()) fetch(&burst[i + kEight], next);
  }
  v.size = kept;
  return sum_of(bytes) + bytes6;
}

// IPv6 packets are usually followed by more: a loop without IPv4 code, while eight packets are ordinary ones
// of IPv6. A separate function, which in one with IPv4 would have fewer registers.
[[gnu::noinline]] ParseStage::Taken ParseStage::parse_eights6(Burst& v, std::span<rte_mbuf* const> burst,
                                                              std::size_t kept, PortIndex port) const {
  const OrdinaryEight eight(contexts_[port]);
  __m256i bytes = _mm256_setzero_si256();
  std::size_t i = 0;
  OrdinaryEight::Frames next;
  if (!burst.empty()) fetch(burst.data(), next);
  for (; i < burst.size(); i += kEight) {
    rte_mbuf* const* const m = &burst[i];
    const OrdinaryEight::Frames frames = next;
    if (i + kEight < burst.size()) fetch(m + kEight, next);
    const Lengths length = lengths(m);
    OrdinaryEight::Found found;
    if (eight.reads6(length.frame)) [[likely]]
      found = eight.check6(frames, length.frame);
    bool all = found.v6 == 0xff;
    for (std::size_t j = 0; all && j < kEight; ++j) {
      m[j]->port = port;
      v.mbuf[kept + i + j] = m[j];
      all = eight.write6(frames[j], found.class_and_port[j], v.header[kept + i + j]);
    }
    if (!all) break;
    bytes = _mm256_add_epi32(bytes, length.packet);
  }
  return {i, sum_of(bytes)};
}

// `kTags`: the port has interfaces.
template <bool kTags>
[[gnu::noinline]] std::uint64_t ParseStage::parse_singly(Burst& v, std::span<rte_mbuf* const> burst,
                                                         PortIndex port) {
  constexpr std::size_t kAhead = 8;
  for (std::size_t i = 0; i < std::min(kAhead, burst.size()); ++i)
    rte_prefetch0(rte_pktmbuf_mtod(burst[i], void*));
  const OrdinaryParser ordinary(contexts_[port]);
  std::uint64_t bytes = 0;
  std::size_t kept = v.size;
  for (std::size_t i = 0; i < burst.size(); ++i) {
    if (i + kAhead < burst.size()) rte_prefetch0(rte_pktmbuf_mtod(burst[i + kAhead], void*));
    rte_mbuf* m = burst[i];
    bytes += m->pkt_len;
    m->port = port;  // from here on our index, not DPDK's
    v.mbuf[kept] = m;
    ParsedPacket& h = v.header[kept];
    kept += (kTags && parse_tagged(ordinary, m, port, h)) ||
            ordinary(rte_pktmbuf_mtod(m, const std::uint8_t*), m->data_len, h) || parse_unusual(m, port, h);
  }
  v.size = kept;
  return bytes;
}

// True if it is an ordinary packet with the tags of an interface.
[[gnu::always_inline]] inline bool ParseStage::parse_tagged(const OrdinaryParser& ordinary, rte_mbuf* m,
                                                            PortIndex port, ParsedPacket& h) {
  auto* const frame = rte_pktmbuf_mtod(m, std::uint8_t*);
  const auto whose = [&](std::uint16_t protocol, std::uint16_t outer, std::uint16_t inner) {
    return interfaces_.find(port, protocol, outer, inner);
  };
  if (!ordinary.tagged(frame, m->data_len, h, whose)) return false;
  interfaces_.take_priority(frame, h);
  return true;
}

ParseOutcome ParseStage::keep_on_link(const ParseOutcome& parsed, const ParsedPacket& h) const {
  const bool discovery = parsed.punt == PuntReason::neighbor_discovery;
  if (!discovery && parsed.punt != PuntReason::link_local) return parsed;
  const IpAddress to = destination_of(h.key);
  if (discovery && is_multicast(to)) return parsed;
  if (is_link_local_v6(to))
    return discovery || is_link_local_v6(source_of(h.key)) ? parsed : ParseOutcome{DropReason::link_local};
  if (route_of(fib_, to).first != kNextHopLocal) return {DropReason::link_local};
  return discovery ? parsed : ParseOutcome{};
}

// A DHCP server may answer at the offered address (RFC 2131 4.1), which the router does not have yet.
[[gnu::noinline]] void ParseStage::take_leases(Burst& v, PortIndex port) {
  const auto is_offer = [&](std::size_t i) {
    const ParsedPacket& h = v.header[i];
    if (!dhcp::to_client(h.key) || h.key.v6 || !(*snapshot_->interfaces)[h.interface].leased) return false;
    const std::span frame(rte_pktmbuf_mtod(v.mbuf[i], const std::uint8_t*), v.mbuf[i]->data_len);
    return dhcp::concerns(frame.subspan(h.l4_offset), contexts_[port].mac);
  };
  bool any = false;  // without a branch for each packet: there are hardly ever some
  for (std::size_t i = 0; i < v.size; ++i) any |= dhcp::has_ports(v.header[i].key, 67, 68);
  if (!any) return;
  std::size_t kept = 0;
  while (kept < v.size && !is_offer(kept)) ++kept;
  for (std::size_t i = kept; i < v.size; ++i) {
    const ParsedPacket& h = v.header[i];
    if (is_offer(i))
      disposal_.punt(v.mbuf[i], port, PuntReason::dhcp, h.l3_offset, kNextHopNone, h.interface);
    else
      v.keep(i, kept++);
  }
  v.size = kept;
}

// Returns true if the packet stays in the pipeline; else it is disposed of.
[[gnu::noinline]] bool ParseStage::parse_unusual(rte_mbuf* m, PortIndex port, ParsedPacket& h) {
  h.l3_offset = 0;  // until an IP header is found
  auto* const frame = rte_pktmbuf_mtod(m, std::uint8_t*);
  const ParseOutcome outcome = keep_on_link(surety::parse({frame, m->data_len}, contexts_[port], h), h);
  if (outcome.drop == DropReason::none && h.l3_offset != RTE_ETHER_HDR_LEN) {
    h.interface = interfaces_.find(frame, h, port);
    if (h.interface == kNoInterface) return disposal_.drop(m, port, DropReason::vlan_unknown), false;
    if (outcome.forwards())
      interfaces_.take_priority(frame, h);
    else
      interfaces_.count(h.interface, m->pkt_len);
  }
  if (outcome.forwards()) {
    icmp_ |= is_icmp(h);
    return true;
  }
  if (outcome.punt != PuntReason::none)
    disposal_.punt(m, port, outcome.punt, h.l3_offset, kNextHopNone, h.interface);
  else
    disposal_.drop(m, port, outcome.drop);
  return false;
}

}  // namespace surety
