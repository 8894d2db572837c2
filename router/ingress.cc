// SPDX-License-Identifier: BSD-3-Clause
// One page: what a packet meets on its way into the router.
#include "router/ingress.h"

#include <rte_ether.h>
#include <rte_prefetch.h>

#include <bit>

#include "router/wire/parse_ordinary.h"

namespace surety {

namespace {
bool is_icmp(const ParsedPacket& h) {
  constexpr std::uint8_t kIcmp = 1, kIcmp6 = 58;
  return h.protocol == kIcmp || h.protocol == kIcmp6;
}
}  // namespace

Ingress::Ingress(const IngressEnvironment& e, std::uint64_t seed, Time now)
    : snapshot_(&e.snapshot),
      fib_(e.fib),
      next_hops_(e.next_hops),
      disposal_(e.disposal),
      meter_(e.meter),
      outlets_(e.outlets),
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
      interceptor_(e.snapshot, e.fib, e.next_hops, e.signal_keys, e.wall_clock) {
  for (std::size_t p = 0; p < e.snapshot.config.ports.size(); ++p)
    contexts_.push_back({e.macs[p], static_cast<PortIndex>(p), e.snapshot.classifier.uses_dscp(),
                         e.snapshot.config.ports[p].promiscuous});
}

void Ingress::receive(std::span<rte_mbuf* const> burst, PortIndex port, Time now) {
  disposal_.at(now);
  while (!burst.empty()) {
    const std::size_t n = std::min(burst.size(), kVector);
    parse(burst.first(n), port);
    if (icmp_) [[unlikely]]
      take_signals(port, now);
    meter_.lap(Stage::parse, n);
    const bool classified = classify_.classifies(port);
    if (classified)
      classify_.run(v_, port, now);
    else
      check(port);
    meter_.lap(Stage::classify, v_.size);
    route_.run(v_, port);
    if (filters_.asks_out()) [[unlikely]]
      filters_.run_out(v_, port);
    meter_.lap(Stage::route, v_.size);
    if (classified)
      condition_.run(v_, port, now);
    else
      condition_.run_unconditioned(v_, snapshot_->unmatched(port));  // all interfaces there are trusted alike
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

// What the classify stage asks where there are flows.
void Ingress::check(PortIndex port) {
  if (sources_.asks(port)) sources_.run(v_, port, disposal_);
  if (filters_.asks_in(port)) filters_.run_in(v_, port);
}

void Ingress::release(Time now) {
  condition_.advance(outlets_, now);
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

void Ingress::parse(std::span<rte_mbuf* const> burst, PortIndex port) {
  if (interfaces_.any_on(port))
    parse_burst<true>(burst, port);
  else
    parse_burst<false>(burst, port);
}

// Not inlined, as the stages are not: in one large function the compiler runs out of
// registers in each of them. `kTags`: there are interfaces on that port.
template <bool kTags>
void Ingress::parse_burst(std::span<rte_mbuf* const> burst, PortIndex port) {
  constexpr std::size_t kAhead = 8;
  for (std::size_t i = 0; i < std::min(kAhead, burst.size()); ++i)
    rte_prefetch0(rte_pktmbuf_mtod(burst[i], void*));
  const OrdinaryParser ordinary(contexts_[port]);
  std::uint64_t bytes = 0;
  std::size_t kept = 0;
  icmp_ = false;
  for (std::size_t i = 0; i < burst.size(); ++i) {
    if (i + kAhead < burst.size()) rte_prefetch0(rte_pktmbuf_mtod(burst[i + kAhead], void*));
    rte_mbuf* m = burst[i];
    bytes += m->pkt_len;
    m->port = port;  // from here on our index, not DPDK's
    v_.mbuf[kept] = m;
    ParsedPacket& h = v_.header[kept];
    kept += (kTags && parse_tagged(ordinary, m, port, h)) ||
            ordinary(rte_pktmbuf_mtod(m, const std::uint8_t*), m->data_len, h) || parse_unusual(m, port, h);
  }
  v_.size = kept;
  if (kTags) interfaces_.count();
  ports_[port].rx_packets += burst.size();
  ports_[port].rx_bytes += bytes;
}

// An ordinary packet with the tags of an interface: whether it is one.
[[gnu::always_inline]] inline bool Ingress::parse_tagged(const OrdinaryParser& ordinary, rte_mbuf* m,
                                                         PortIndex port, ParsedPacket& h) {
  auto* const frame = rte_pktmbuf_mtod(m, std::uint8_t*);
  const auto whose = [&](std::uint16_t protocol, std::uint16_t outer, std::uint16_t inner) {
    return interfaces_.find(port, protocol, outer, inner);
  };
  if (!ordinary.tagged(frame, m->data_len, h, whose)) return false;
  interfaces_.note(h.interface, m->pkt_len);
  interfaces_.take_priority(frame, h);
  return true;
}

// Whether it goes on; if not, it is gone.
[[gnu::noinline]] bool Ingress::parse_unusual(rte_mbuf* m, PortIndex port, ParsedPacket& h) {
  h.l3_offset = 0;  // until an IP header is found
  auto* const frame = rte_pktmbuf_mtod(m, std::uint8_t*);
  const ParseOutcome outcome = surety::parse({frame, m->data_len}, contexts_[port], h);
  if (outcome.drop == DropReason::none && h.l3_offset != RTE_ETHER_HDR_LEN) {
    h.interface = interfaces_.find(frame, h, port);
    if (h.interface == kNoInterface) return disposal_.drop(m, port, DropReason::vlan_unknown), false;
    interfaces_.note(h.interface, m->pkt_len);
    if (outcome.forwards()) interfaces_.take_priority(frame, h);
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

void Ingress::hand_over(Time now) {
  if (!route_.oversized()) [[likely]]
    return hand_over_vector(now);
  fragment_.take(v_);
  do hand_over_vector(now);
  while (fragment_.next(v_));
}

// Each egress takes its packets in the order they came.
void Ingress::hand_over_vector(Time now) {
  std::array<rte_mbuf*, kVector> frames;
  std::uint32_t ports = 0;
  for (std::size_t i = 0; i < v_.size; ++i) ports |= 1u << v_.egress[i];
  const bool one = std::has_single_bit(ports);
  for (; ports != 0; ports &= ports - 1) {
    const auto port = static_cast<PortIndex>(std::countr_zero(ports));
    if (outlets_[port].owner != nullptr) {
      hand_over(outlets_[port], port);
      continue;
    }
    Egress& egress = *outlets_[port].egress;
    std::size_t n = 0;
    if (egress.plain() != nullptr) {
      for (std::size_t i = 0; !one && i < v_.size; ++i) {
        frames[n] = v_.mbuf[i];
        n += v_.egress[i] == port;
      }
      egress.enqueue_plain(one ? std::span(v_.mbuf).first(v_.size) : std::span(frames).first(n), now);
      continue;
    }
    const std::size_t size = v_.size;
    for (std::size_t i = 0; i < size; ++i) {
      packets_[n] = {v_.mbuf[i], kNoFlow, v_.header[i].length, v_.precedence[i], DropReason::none};
      n += one || v_.egress[i] == port;
    }
    egress.enqueue({packets_.data(), n}, now);
  }
}

void Ingress::hand_over(const Outlet& outlet, PortIndex port) {
  const PortQueues& classes = snapshot_->queues[port];
  std::array<HandedPacket, kVector> burst;
  std::size_t n = 0;
  for (std::size_t i = 0; i < v_.size; ++i)
    if (v_.egress[i] == port) burst[n++] = Egress::describe(v_.mbuf[i], v_.header[i].length, classes);
  const std::size_t given = outlet.owner->enqueue({burst.data(), n});
  handed_ |= 1u << port;
  ports_[port].handed_over += given;
  for (std::size_t i = given; i < n; ++i) {
    rte_mbuf* m = burst[i].mbuf();
    const auto from = static_cast<PortIndex>(m->port);
    --ports_[from].forwarded;
    disposal_.lose(m, from, DropReason::handover_full);
  }
}

}  // namespace surety
