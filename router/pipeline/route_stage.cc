// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/route_stage.h"

#include <rte_byteorder.h>

#include <algorithm>

namespace surety {

namespace {
// Host order.
std::uint32_t destination4(const ParsedPacket& h) {
  return rte_be_to_cpu_32(static_cast<std::uint32_t>(h.key.address[0] >> 32));
}

// Lanes of packets in a burst: all of it, or a list.
struct InOrder {
  std::size_t operator[](unsigned k) const { return k; }
};
using Listed = std::array<std::uint8_t, kBurst>;

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
      mss_(snapshot),
      fragments_(fragments) {
  adopt(snapshot);
}

// Stores the lowest MTU of each port's interfaces and of all routes; divert() uses the exact one.
void RouteStage::adopt(const Snapshot& snapshot) {
  interfaces_ = snapshot.interfaces->data();
  mss_.adopt(snapshot);
  least_mtu_ = next_hops_.least_mtu();
  for (std::size_t p = 0; p < snapshot.config.ports.size(); ++p)
    mtu_[p] = std::min(snapshot.interfaces->least_mtu(static_cast<PortIndex>(p)), least_mtu_);
}

[[gnu::noinline]] void RouteStage::lower_mtu() {
  least_mtu_ = next_hops_.least_mtu();
  for (std::uint16_t& mtu : mtu_) mtu = std::min(mtu, least_mtu_);
}

[[gnu::noinline]] void RouteStage::run(Burst& v, PortIndex port, FlowTable* flows) {
  if (next_hops_.least_mtu() != least_mtu_) [[unlikely]]
    lower_mtu();
  look_up(v, flows);
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
  if (mss_.clamps()) [[unlikely]]
    mss_.run(v, port);
}

void RouteStage::look_up(Burst& v, FlowTable* flows) const {
  std::array<std::uint32_t, kBurst> v4;
  const auto size = static_cast<unsigned>(v.size);
  unsigned v6 = 0;
  for (unsigned i = 0; i < size; ++i) {
    v4[i] = destination4(v.header[i]);
    v6 += v.header[i].v6;
  }
  if (v6 > 0) return v6 == size ? look_up6(v, InOrder{}, size, flows) : look_up_mixed(v, flows);
  Targets targets;
  fib_.lookup4(v4.data(), targets.data(), size);
  settle(v, InOrder{}, size, targets);
}

[[gnu::noinline]] void RouteStage::look_up_mixed(Burst& v, FlowTable* flows) const {
  Listed v4, v6;
  unsigned n4 = 0, n6 = 0;
  for (std::size_t i = 0; i < v.size; ++i) {
    v4[n4] = v6[n6] = static_cast<std::uint8_t>(i);
    n4 += !v.header[i].v6;
    n6 += v.header[i].v6;
  }
  std::array<std::uint32_t, kBurst> addresses;
  Targets targets;
  for (unsigned k = 0; k < n4; ++k) addresses[k] = destination4(v.header[v4[k]]);
  fib_.lookup4(addresses.data(), targets.data(), n4);
  settle(v, v4, n4, targets);
  look_up6(v, v6, n6, flows);
}

// A flow caches its lookup result, one next hop chosen by its key: the same lookup returns the same while the
// generation is unchanged. Packets with an outdated result, or without a record, are looked up; generations
// are read before the lookup.
template <class Lanes>
[[gnu::noinline]] void RouteStage::look_up6(Burst& v, const Lanes& at, unsigned n, FlowTable* flows) const {
  if (flows == nullptr) return find6(v, at, n);
  Listed unknown;
  std::array<std::uint64_t, kBurst> generations;
  unsigned asked = 0;
  for (unsigned k = 0; k < n; ++k) {
    const std::size_t i = at[k];
    const std::uint64_t generation = fib_.generation6(v.header[i].key.address[2]);
    const std::uint64_t route = RememberedRoute::decode(flows->recall(v.flow[i]), generation);
    v.route[i] = static_cast<std::uint32_t>(route);
    generations[asked] = generation;
    unknown[asked] = static_cast<std::uint8_t>(i);
    asked += route > RememberedRoute::kMaxValue;
  }
  if (asked == 0) [[likely]]
    return;
  find6(v, unknown, asked);
  for (unsigned k = 0; k < asked; ++k) {
    const std::size_t i = unknown[k];
    flows->remember(v.flow[i], RememberedRoute::encode(generations[k], v.route[i]));
  }
}

template <class Lanes>
void RouteStage::find6(Burst& v, const Lanes& at, unsigned n) const {
  std::uint8_t addresses[kBurst][16];
  Targets targets;
  for (unsigned k = 0; k < n; ++k) std::memcpy(addresses[k], &v.header[at[k]].key.address[2], 16);
  fib_.lookup6(addresses, targets.data(), n);
  settle(v, at, n, targets);
}

// Reduces each route to one next hop.
template <class Lanes>
void RouteStage::settle(Burst& v, const Lanes& at, unsigned n, const Targets& targets) const {
  std::uint32_t any = 0;
  for (unsigned k = 0; k < n; ++k) any |= v.route[at[k]] = static_cast<std::uint32_t>(targets[k]);
  if ((any & RouteTarget::kSeveral) == 0) [[likely]]
    return;
  for (unsigned k = 0; k < n; ++k) {
    const std::size_t i = at[k];
    RouteTarget target = RouteTarget::decode(v.route[i]);
    target.first = choose(target, v.header[i]);
    target.count = 1;
    v.route[i] = target.encode();
  }
}

// Returns true if the packet stays in the pipeline: to be fragmented, or for a next hop that is not ready,
// but will be when the packet leaves.
[[gnu::noinline]] bool RouteStage::divert(Burst& v, std::size_t i, PortIndex port) {
  const NextHopEntry hop = next_hops_.get(v.next_hop(i));
  const ParsedPacket& h = v.header[i];
  using State = NextHopEntry::State;
  rte_mbuf* m = v.mbuf[i];
  const auto punt = [&](PuntReason reason) {
    disposal_.punt(m, port, reason, h.l3_offset, v.next_hop(i), h.interface);
  };
  // The kernel would forward it past every conditioner and queue.
  const bool past_all = v.next_hop(i) == kNextHopForeign && interfaces_[h.interface].customer();
  if (past_all || hop.state == State::no_route)
    disposal_.drop_and_report(m, port, DropReason::no_route, Refusal::no_route, h);
  else if (hop.state == State::local)
    punt(PuntReason::local);
  else if (hop.state == State::blackhole)
    disposal_.drop(m, port, DropReason::blackhole);
  else if (hop.state == State::unreachable)
    disposal_.drop_and_report(m, port, DropReason::blackhole, Refusal::unreachable, h);
  else if (hop.state == State::prohibited)
    disposal_.drop_and_report(m, port, DropReason::blackhole, Refusal::prohibited, h);
  else if (hop.state == State::unsupported)
    disposal_.drop_and_report(m, port, DropReason::unsupported_route, Refusal::no_route, h);
  else if (h.ttl <= 1)
    punt(PuntReason::ttl);
  else if (const bool large = h.length > mtu_of(hop, interfaces_[hop.interface].mtu);
           large && !(fragments_ && may_be_fragmented(m, h)))
    punt(PuntReason::mtu);
  else if (NextHopEntry::known(hop.state))
    return oversized_ |= large, true;
  else if (hop.state == State::glean && filters_.asks_out() && filters_.refuses_out(v, i))
    filters_.refuse(v, i, port);
  else if (hop.state == State::glean)
    // The control thread resolves the neighbour, and sends the packet to its queues.
    mss_.run(v, i, port, hop.port), punt(PuntReason::neighbor);
  else
    // Being resolved; the kernel may not have this route.
    disposal_.drop(m, port, DropReason::neighbor_unresolved);
  return false;
}

}  // namespace surety
