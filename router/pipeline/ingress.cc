// SPDX-License-Identifier: BSD-3-Clause
// The path of a packet into the router on one page.
#include "router/pipeline/ingress.h"

#include <bit>

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
      sources_(e.snapshot, e.fib, e.next_hops),
      filters_(e.snapshot, e.next_hops, e.disposal),
      classify_(e.snapshot, e.ports, e.services, sources_, filters_, e.disposal, seed, now),
      route_(e.snapshot, e.fib, e.next_hops, filters_, e.disposal, FlowHasher(seed), e.pool != nullptr),
      condition_(e.snapshot, classify_.flows(), e.ports, e.services, e.disposal, seed, now, e.worker),
      pending_(e.next_hops, e.ports, e.disposal),
      rewrite_(e.next_hops, e.macs, e.disposal, pending_, e.worker),
      fragment_(e.snapshot, e.ports, e.disposal, e.pool),
      interfaces_(e.snapshot, e.interfaces),
      interceptor_(e.snapshot, e.fib, e.next_hops, e.signal_keys, e.wall_clock, now) {
  for (std::size_t p = 0; p < e.snapshot.config.ports.size(); ++p)
    contexts_.push_back({e.macs[p], static_cast<PortIndex>(p), e.snapshot.classifier.uses_dscp(),
                         e.snapshot.config.ports[p].promiscuous});
}

void Ingress::receive(std::span<rte_mbuf* const> burst, PortIndex port, Time now) {
  disposal_.at(now);
  while (!burst.empty()) {
    const std::size_t n = std::min(burst.size(), kBurst);
    parse(burst.first(n), port);
    if (icmp_) [[unlikely]]
      take_signals(port, now);
    if (snapshot_->interfaces->leased(port)) [[unlikely]]
      take_leases(port);
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
    ports_[port].forwarded += v_.size;
    hand_over(now);
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
  for (std::size_t i = 0; i < v_.size; ++i) ++ports_[v_.mbuf[i]->port].forwarded;
  hand_over(now);
  disposal_.flush();
}

void Ingress::send_pending(Time now) {
  for (bool more = true; more;) {
    v_.size = 0;
    more = pending_.release(v_);
    hand_over(now);
    disposal_.flush();
  }
}

void Ingress::hand_over(Time now) {
  if (!route_.oversized()) [[likely]]
    return hand_over_vector(now);
  fragment_.take(v_);
  do hand_over_vector(now);
  while (fragment_.next(v_));
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
    --ports_[from].forwarded;
    disposal_.drop_owned(m, from, DropReason::handover_full);
  }
}

}  // namespace surety
