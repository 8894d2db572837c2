// SPDX-License-Identifier: BSD-3-Clause
// Congestion signals at the ingress, and packets of the router itself.
#include <rte_byteorder.h>
#include <rte_ether.h>

#include <cstring>

#include "router/pipeline/egress_tags.h"
#include "router/pipeline/ingress.h"
#include "router/pipeline/wire/bytes.h"
#include "router/pipeline/wire/ip_bytes.h"

namespace surety {

namespace {

std::span<const std::uint8_t> ip_of(const rte_mbuf* m, const ParsedPacket& h) {
  return {rte_pktmbuf_mtod_offset(m, const std::uint8_t*, h.l3_offset), h.length};
}

bool carries_signal(const rte_mbuf* m, const ParsedPacket& h) {
  const auto icmp = ip_of(m, h).subspan(h.l4_offset - std::size_t{h.l3_offset});
  return !h.fragment && may_be_signal(h.protocol, icmp) && is_signal(icmp, h.v6);
}

void write_ethernet(std::uint8_t* frame, const NextHopEntry& hop, const MacAddress& own, bool v6) {
  const std::uint16_t type = rte_cpu_to_be_16(v6 ? RTE_ETHER_TYPE_IPV6 : RTE_ETHER_TYPE_IPV4);
  std::memcpy(frame, hop.destination.data(), 6);
  std::memcpy(frame + 6, own.data(), 6);
  std::memcpy(frame + 12, &type, 2);
}

}  // namespace

void Ingress::take_signals(PortIndex port, Time now) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < v_.size; ++i) {
    rte_mbuf* m = v_.mbuf[i];
    SignalInterceptor::Decision d;
    if (carries_signal(m, v_.header[i]))
      d = interceptor_.decide(ip_of(m, v_.header[i]), v_.header[i].interface, now);
    if (!d.ends) {
      v_.keep(i, kept++);
      continue;
    }
    if (d.result != SignalResult::applied) {
      ++signals_[static_cast<std::size_t>(d.result)];
    } else {
      d.result = on_signal(d.signal, now);
      if (sharing_) shared_.push(d.signal);
    }
    if (is_refusal(d.result)) {
      disposal_.drop(m, port, DropReason::signal);
    } else {
      ++ports_[port].signals;
      disposal_.free(m);
    }
  }
  v_.size = kept;
}

SignalResult Ingress::on_signal(const CongestionSignal& signal, Time now) {
  const SignalResult result = follow(signal, now);
  ++signals_[static_cast<std::size_t>(result)];
  return result;
}

void Ingress::on_shared(const CongestionSignal& signal, Time now) {
  if (signal.number != SignalNumber{}) interceptor_.remember(signal, now);
  follow(signal, now);
}

SignalResult Ingress::follow(const CongestionSignal& signal, Time now) {
  const SignalPath path = find_signal_path(*snapshot_, fib_, next_hops_, signal);
  return path.result == SignalResult::applied ? condition_.on_signal(path, port_egresses_, now) : path.result;
}

Ratio Ingress::applied_alpha(const RemoteAlphaReading& path, const Snapshot& snapshot) const {
  const Ratio local = port_egresses_[snapshot.domains[path.domain].port].egress->alpha(path.domain);
  const bool act = snapshot.config.signalling.mode != config::Signalling::Mode::observe;
  return act ? std::min(local, path.alpha) : local;
}

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
  disown(m);
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
