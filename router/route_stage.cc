// SPDX-License-Identifier: BSD-3-Clause
#include "router/route_stage.h"

#include <rte_byteorder.h>

namespace surety {

namespace {
// Host order.
std::uint32_t destination4(const ParsedPacket& h) {
  return rte_be_to_cpu_32(static_cast<std::uint32_t>(h.key.address[0] >> 32));
}

bool may_be_fragmented(rte_mbuf* m, const ParsedPacket& h) {
  constexpr std::uint8_t kDontFragment = 0x40;
  return !h.v6 && (ip_header(m, h.l3_offset)[6] & kDontFragment) == 0;
}
}  // namespace

RouteStage::RouteStage(const Snapshot& snapshot, const Fib& fib, const NextHopTable& next_hops,
                       FilterStage& filters, PacketDisposal& disposal, const FlowHasher& hasher,
                       bool fragments)
    : fib_(fib),
      next_hops_(next_hops),
      filters_(filters),
      disposal_(disposal),
      hasher_(hasher),
      fragments_(fragments) {
  adopt(snapshot);
}

// Of a port the least on it; divert() knows better.
void RouteStage::adopt(const Snapshot& snapshot) {
  interfaces_ = snapshot.interfaces->data();
  for (std::size_t p = 0; p < snapshot.config.ports.size(); ++p)
    mtu_[p] = snapshot.interfaces->least_mtu(static_cast<PortIndex>(p));
}

[[gnu::noinline]] void RouteStage::run(Vector& v, PortIndex port) {
  look_up(v);
  const NextHopTable::Words hops = next_hops_.words();
  const std::size_t size = v.size;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const ParsedPacket& h = v.header[i];
    const NextHopWord hop = hops(v.next_hop(i));
    if (!hop.ready() || h.ttl <= 1 || h.length > mtu_[hop.port()]) [[unlikely]] {
      if (!divert(v, i, port)) continue;
    }
    v.egress[i] = hop.port();
    v.keep(i, kept++);
  }
  v.size = kept;
}

// Of each route one next hop is left.
void RouteStage::look_up(Vector& v) const {
  Targets targets;
  look_up(v, targets);
  std::uint32_t any = 0;
  for (std::size_t i = 0; i < v.size; ++i) any |= v.route[i] = static_cast<std::uint32_t>(targets[i]);
  if ((any & RouteTarget::kSeveral) == 0) [[likely]]
    return;
  for (std::size_t i = 0; i < v.size; ++i) {
    RouteTarget target = RouteTarget::decode(v.route[i]);
    target.first = choose(target, v.header[i]);
    target.count = 1;
    v.route[i] = target.encode();
  }
}

void RouteStage::look_up(const Vector& v, Targets& targets) const {
  std::array<std::uint32_t, kVector> v4;
  const std::size_t size = v.size;
  bool v6 = false;
  for (std::size_t i = 0; i < size; ++i) {
    v4[i] = destination4(v.header[i]);
    v6 |= v.header[i].v6;
  }
  if (!v6) return fib_.lookup4(v4.data(), targets.data(), static_cast<unsigned>(size));
  look_up_mixed(v, targets);
}

void RouteStage::look_up_mixed(const Vector& v, Targets& targets) const {
  std::array<std::uint32_t, kVector> v4;
  std::array<std::uint8_t, kVector> v4_at, v6_at;
  std::uint8_t v6[kVector][16];
  unsigned n4 = 0, n6 = 0;
  for (std::size_t i = 0; i < v.size; ++i) {
    if (v.header[i].v6) {
      std::memcpy(v6[n6], &v.header[i].key.address[2], 16);
      v6_at[n6++] = static_cast<std::uint8_t>(i);
    } else {
      v4[n4] = destination4(v.header[i]);
      v4_at[n4++] = static_cast<std::uint8_t>(i);
    }
  }
  Targets found;
  if (n6 == v.size) return fib_.lookup6(v6, targets.data(), n6);
  fib_.lookup4(v4.data(), found.data(), n4);
  for (unsigned k = 0; k < n4; ++k) targets[v4_at[k]] = found[k];
  fib_.lookup6(v6, found.data(), n6);
  for (unsigned k = 0; k < n6; ++k) targets[v6_at[k]] = found[k];
}

// Whether it goes on all the same: to be fragmented, or to a next hop that is not ready, but will be by the
// time it leaves.
[[gnu::noinline]] bool RouteStage::divert(Vector& v, std::size_t i, PortIndex port) {
  const NextHopEntry hop = next_hops_.get(v.next_hop(i));
  const ParsedPacket& h = v.header[i];
  using State = NextHopEntry::State;
  rte_mbuf* m = v.mbuf[i];
  const auto punt = [&](PuntReason reason) {
    disposal_.punt(m, port, reason, h.l3_offset, v.next_hop(i), h.interface);
  };
  if (hop.state == State::local)
    punt(PuntReason::local);
  else if (hop.state == State::no_route)
    disposal_.refuse(m, port, DropReason::no_route, Refusal::no_route, h);
  else if (hop.state == State::blackhole)
    disposal_.drop(m, port, DropReason::blackhole);
  else if (hop.state == State::unreachable)
    disposal_.refuse(m, port, DropReason::blackhole, Refusal::unreachable, h);
  else if (hop.state == State::prohibited)
    disposal_.refuse(m, port, DropReason::blackhole, Refusal::prohibited, h);
  else if (h.ttl <= 1)
    punt(PuntReason::ttl);
  else if (const bool large = h.length > interfaces_[hop.interface].mtu;
           large && !(fragments_ && may_be_fragmented(m, h)))
    punt(PuntReason::mtu);
  else if (NextHopEntry::known(hop.state))
    return oversized_ |= large, true;
  else if (hop.state == State::glean && filters_.asks_out() && filters_.refuses_out(v, i))
    filters_.refuse(v, i, port);
  else if (hop.state == State::glean)
    // The control thread finds the station, and sends the packet to its queues.
    punt(PuntReason::neighbor);
  else
    // Being resolved; the kernel may not have this route.
    disposal_.drop(m, port, DropReason::neighbor_unresolved);
  return false;
}

}  // namespace surety
