#include "router/route_stage.h"

#include <rte_byteorder.h>

namespace surety {

RouteStage::RouteStage(const Snapshot& snapshot, const Fib& fib, const NextHopTable& next_hops, Exits& exits,
                       const FlowHasher& hasher)
    : fib_(fib), next_hops_(next_hops), exits_(exits), hasher_(hasher) {
  for (std::size_t p = 0; p < snapshot.config.ports.size(); ++p) mtu_[p] = snapshot.config.ports[p].mtu;
}

void RouteStage::run(Vector& v, PortIndex port) {
  std::array<std::uint64_t, kVector> targets;
  look_up(v, targets);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < v.size; ++i) {
    const RouteTarget target = RouteTarget::decode(static_cast<std::uint32_t>(targets[i]));
    // Equal-cost routes are chosen by flow, so that none is reordered.
    v.next_hop[i] = target.count == 1
                        ? target.first
                        : NextHopTable::select(target, static_cast<std::uint32_t>(hasher_(v.header[i].key)));
    const NextHopEntry hop = next_hops_.get(v.next_hop[i]);
    const ParsedPacket& h = v.header[i];
    if (hop.state != NextHopEntry::State::ready || h.ttl <= 1 || h.length > mtu_[hop.port]) [[unlikely]] {
      refuse(v, i, port, hop);
      continue;
    }
    v.egress[i] = hop.port;
    v.keep(i, kept++);
  }
  v.size = kept;
}

void RouteStage::look_up(Vector& v, std::array<std::uint64_t, kVector>& targets) const {
  std::array<std::uint32_t, kVector> v4;
  std::array<std::uint8_t, kVector> v4_at, v6_at;
  std::uint8_t v6[kVector][16];
  unsigned n4 = 0, n6 = 0;
  for (std::size_t i = 0; i < v.size; ++i) {
    const auto& address = v.header[i].key.address;
    if (v.header[i].v6) {
      std::memcpy(v6[n6], &address[2], 16);
      v6_at[n6++] = static_cast<std::uint8_t>(i);
    } else {
      v4[n4] = rte_be_to_cpu_32(static_cast<std::uint32_t>(address[0] >> 32));
      v4_at[n4++] = static_cast<std::uint8_t>(i);
    }
  }
  std::array<std::uint64_t, kVector> found;
  if (n4 == v.size) return fib_.lookup4(v4.data(), targets.data(), n4);
  if (n6 == v.size) return fib_.lookup6(v6, targets.data(), n6);
  fib_.lookup4(v4.data(), found.data(), n4);
  for (unsigned k = 0; k < n4; ++k) targets[v4_at[k]] = found[k];
  fib_.lookup6(v6, found.data(), n6);
  for (unsigned k = 0; k < n6; ++k) targets[v6_at[k]] = found[k];
}

void RouteStage::refuse(Vector& v, std::size_t i, PortIndex port, const NextHopEntry& hop) {
  const ParsedPacket& h = v.header[i];
  using State = NextHopEntry::State;
  rte_mbuf* m = v.mbuf[i];
  const auto punt = [&](PuntReason reason) { exits_.punt(m, port, reason, h.l3_offset, v.next_hop[i]); };
  if (hop.state == State::local)
    punt(PuntReason::local);
  else if (hop.state == State::no_route)
    exits_.drop(m, port, DropReason::no_route);
  else if (hop.state == State::blackhole)
    exits_.drop(m, port, DropReason::blackhole);
  else if (h.ttl <= 1)
    punt(PuntReason::ttl);
  else if (h.length > mtu_[hop.port])
    punt(PuntReason::mtu);
  else if (hop.state == State::glean)
    punt(PuntReason::neighbor);  // the kernel has the same subnet, resolves the neighbour and sends the
                                 // packet on
  else
    exits_.drop(m, port,
                DropReason::neighbor_unresolved);  // being resolved; the kernel may not have this route
}

}  // namespace surety
