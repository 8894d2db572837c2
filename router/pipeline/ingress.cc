// SPDX-License-Identifier: BSD-3-Clause
// The path of a packet into the router on one page.
#include "router/pipeline/ingress.h"

#include <rte_byteorder.h>
#include <rte_ether.h>

#include <bit>
#include <cstring>

#include "router/pipeline/egress.h"
#include "router/pipeline/egress_tags.h"
#include "router/pipeline/wire/bytes.h"
#include "router/pipeline/wire/header_fields.h"

namespace surety {

Ingress::Ingress(const IngressEnvironment& e, std::uint64_t seed, Time now)
    : snapshot_(&e.snapshot),
      fib_(e.fib),
      next_hops_(e.next_hops),
      disposal_(e.disposal),
      meter_(e.meter),
      port_egresses_(e.port_egresses),
      ports_(e.ports),
      macs_(e.macs),
      parse_(e.snapshot, e.fib, e.macs, e.ports, e.disposal, e.interfaces),
      sources_(e.snapshot, e.fib, e.next_hops),
      filters_(e.snapshot, e.next_hops, e.disposal),
      classify_(e.snapshot, e.ports, e.services, sources_, filters_, e.disposal, seed, now),
      route_(e.snapshot, e.fib, e.next_hops, filters_, e.disposal, FlowHasher(seed), e.pool != nullptr),
      condition_(e.snapshot, classify_.flows(), e.ports, e.services, e.disposal, seed, now, e.worker),
      pending_(e.next_hops, e.ports, e.disposal),
      rewrite_(e.next_hops, e.macs, e.disposal, pending_, e.worker),
      fragment_(e.snapshot, e.ports, e.disposal, e.pool, &e.next_hops),
      signals_(e.snapshot, e.fib, e.next_hops, condition_, e.port_egresses, e.ports, e.disposal,
               e.signal_keys, e.wall_clock, now) {}

void Ingress::receive(std::span<rte_mbuf* const> burst, PortIndex port, Time now) {
  disposal_.at(now);
  while (!burst.empty()) {
    const std::size_t n = std::min(burst.size(), kBurst);
    parse_.run(v_, burst.first(n), port);
    if (parse_.icmp()) [[unlikely]]
      signals_.run(v_, port, now);
    meter_.lap(Stage::parse, n);
    const bool classified = classify_.classifies(port);
    if (classified)
      classify_.run(v_, port, now);
    else
      check(port);
    meter_.lap(Stage::classify, v_.size);
    route_.run(v_, port, classified ? &classify_.flows() : nullptr);
    if (filters_.asks_out()) [[unlikely]]
      filters_.run_out(v_, port);
    meter_.lap(Stage::route, v_.size);
    if (classified)
      condition_.run(v_, port, now);
    else
      condition_.run_unconditioned(v_, snapshot_->unmatched(port));  // all its interfaces have the same trust
    meter_.lap(Stage::condition, v_.size);
    rewrite_.run(v_);
    meter_.lap(Stage::rewrite, v_.size);
    hand_over(now, [&] { ports_[port].forwarded += v_.size; });
    meter_.lap(Stage::enqueue, v_.size);
    disposal_.flush();
    burst = burst.subspan(n);
  }
}

// The checks of the classify stage, for ports without flow records.
void Ingress::check(PortIndex port) {
  if (sources_.asks(port)) sources_.run(v_, port, disposal_);
  if (filters_.asks_in(port)) filters_.run_in(v_, port);
}

void Ingress::release(Time now) {
  condition_.advance(port_egresses_, now);
  if (pending_.due()) [[unlikely]]
    send_pending(now);
  if (classify_.reloaded()) [[unlikely]]
    flush(now);
  classify_.age(now);
  for (bool more = condition_.held() > 0; more;) {
    v_.size = 0;
    more = condition_.release(v_, now);
    send_revived(now);
  }
}

void Ingress::send_revived(Time now) {
  rewrite_.run(v_);
  hand_over_held(now);
}

void Ingress::send_pending(Time now) {
  for (bool more = true; more;) {
    v_.size = 0;
    more = pending_.release(v_);
    hand_over_held(now);
  }
}

// The packets may have come by different ports.
void Ingress::hand_over_held(Time now) {
  hand_over(now, [&] {
    for (std::size_t i = 0; i < v_.size; ++i) ++ports_[v_.mbuf[i]->port].forwarded;
  });
  disposal_.flush();
}

// `count` counts the packets of `v_` as forwarded.
template <class Count>
void Ingress::hand_over(Time now, Count count) {
  const bool oversized = route_.oversized();
  if (oversized) [[unlikely]]
    fragment_.take(v_);
  do {
    count();
    hand_over_vector(now);
  } while (oversized && fragment_.next(v_));
}

// Each egress gets its packets in order of arrival.
void Ingress::hand_over_vector(Time now) {
  for (LaneMask left = v_.all(); left != 0;) {
    const PortIndex port = v_.egress[static_cast<std::size_t>(std::countr_zero(left))];
    const LaneMask lanes = v_.leaving_by(port);
    left &= ~lanes;
    if (port_egresses_[port].owner != nullptr)
      hand_over(port_egresses_[port], port, lanes);
    else
      port_egresses_[port].egress->enqueue(v_, lanes, now);
  }
}

void Ingress::hand_over(const PortEgress& port_egress, PortIndex port, LaneMask lanes) {
  const PortQueues& classes = snapshot_->queues[port];
  std::array<HandedPacket, kBurst> burst;
  std::size_t n = 0;
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(lanes));
    burst[n++] = Egress::describe(v_.mbuf[i], v_.header[i].length, v_.traffic_class(i), classes);
  }
  const std::size_t given = port_egress.owner->enqueue({burst.data(), n});
  handed_ |= 1u << port;
  ports_[port].handed_over += given;
  for (std::size_t i = given; i < n; ++i) {
    rte_mbuf* m = burst[i].mbuf();
    const auto from = static_cast<PortIndex>(m->port);
    --ports_[from].forwarded;  // once the others are in the ring, their mbufs are not this worker's to read
    disposal_.drop_owned(m, from, DropReason::handover_full);
  }
}

// Reload of the ingress.

namespace {
// Bursts released per turn from input buffers that must be emptied: some ten microseconds.
constexpr std::size_t kBurstsAtOnce = 4;
}  // namespace

void Ingress::adopt(const Snapshot& snapshot, std::span<ServiceCounters> services,
                    std::vector<std::uint64_t>& filter_counts, Time now) {
  snapshot_ = &snapshot;
  parse_.adopt(snapshot);
  rewrite_.adopt(macs_);
  sources_.adopt(snapshot);
  filters_.adopt(snapshot, filter_counts);
  classify_.adopt(snapshot, services, now);
  condition_.adopt(snapshot, services, now);
  route_.adopt(snapshot);
  fragment_.adopt(snapshot);
  signals_.adopt(snapshot);
}

void Ingress::flush(Time now) {
  std::size_t bursts = kBurstsAtOnce;
  v_.size = 0;
  const auto held = [&](FlowId id) { return condition_.held(id); };
  classify_.serve(now, held, [&](FlowId id) {
    while (bursts > 0 && !condition_.flush(v_, id, now)) {
      send_revived(now);
      v_.size = 0;
      --bursts;
    }
    return (classify_.flows()[id].flags & FlowRecord::sticky) == 0;
  });
  if (v_.size > 0) send_revived(now);
  classify_.settle(condition_.held() == 0, now);
}

Ratio Ingress::applied_alpha(const RemoteAlphaReading& path, const Snapshot& snapshot) const {
  const Ratio local = port_egresses_[snapshot.domains[path.domain].port].egress->alpha(path.domain);
  const bool act = snapshot.config.signalling.mode != config::Signalling::Mode::observe;
  return act ? std::min(local, path.alpha) : local;
}

// Packets of the router itself.

namespace {

void write_ethernet(std::uint8_t* frame, const NextHopEntry& hop, const MacAddress& own, bool v6) {
  const std::uint16_t type = rte_cpu_to_be_16(v6 ? RTE_ETHER_TYPE_IPV6 : RTE_ETHER_TYPE_IPV4);
  std::memcpy(frame, hop.destination.data(), 6);
  std::memcpy(frame + 6, own.data(), 6);
  std::memcpy(frame + 12, &type, 2);
}

}  // namespace

bool Ingress::originate(rte_mbuf* m, Time now) {
  const IpAddress destination = destination_of(ip_header(m, RTE_ETHER_HDR_LEN));
  const RouteTarget target = route_of(fib_, destination);
  // Chooses one of equal-cost next hops: the same for a destination, so that its packets keep their order.
  const auto hash = static_cast<std::uint32_t>(
      (destination.is_v6() ? destination.high : destination.v4_as_loaded()) * 0x9e3779b9u);
  const NextHopEntry hop = next_hops_.get(NextHopTable::select(target, hash));
  if (NextHopEntry::known(hop.state)) {
    write_ethernet(rte_pktmbuf_mtod(m, std::uint8_t*), hop, macs_[hop.port], destination.is_v6());
    m->port = hop.port;
    if (hop.tags.any()) set_interface(m, hop.interface, hop.tags);
    if (hand_over_own(m, hop.port, now)) return true;
  }
  rte_pktmbuf_free(m);
  return false;
}

bool Ingress::hand_over_own(rte_mbuf* m, PortIndex port, Time now) {
  const PortEgress& port_egress = port_egresses_[port];
  clear_owner(m);
  if (port_egress.owner != nullptr) {
    const auto length = static_cast<std::uint16_t>(m->pkt_len - RTE_ETHER_HDR_LEN);
    const HandedPacket packet = port_egress.egress->describe(m, length, snapshot_->queues[port]);
    if (port_egress.owner->enqueue({&packet, 1}) == 0) return false;
    handed_ |= 1u << port;
    ++ports_[port].handed_over;
  } else {
    port_egress.egress->enqueue_frames({&m, 1}, now);
    disposal_.flush();
  }
  ++ports_[port].originated;
  return true;
}

}  // namespace surety
