// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/signal_stage.h"

namespace surety {

SignalStage::SignalStage(const Snapshot& snapshot, const Fib& fib, const NextHopTable& next_hops,
                         ConditionStage& condition, std::span<const PortEgress> port_egresses,
                         std::span<PortCounters> ports, PacketDisposal& disposal, const SignalKeys* keys,
                         const WallClock* wall, Time now)
    : snapshot_(&snapshot),
      fib_(fib),
      next_hops_(next_hops),
      condition_(condition),
      port_egresses_(port_egresses),
      ports_(ports),
      disposal_(disposal),
      interceptor_(snapshot, fib, next_hops, keys, wall, now) {}

namespace {

std::span<const std::uint8_t> ip_of(const rte_mbuf* m, const ParsedPacket& h) {
  return {rte_pktmbuf_mtod_offset(m, const std::uint8_t*, h.l3_offset), h.length};
}

bool carries_signal(const rte_mbuf* m, const ParsedPacket& h) {
  const auto icmp = ip_of(m, h).subspan(h.l4_offset - std::size_t{h.l3_offset});
  return !h.fragment && may_be_signal(h.protocol, icmp) && is_signal(icmp, h.v6);
}

}  // namespace

void SignalStage::run(Burst& v, PortIndex port, Time now) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < v.size; ++i) {
    rte_mbuf* m = v.mbuf[i];
    SignalInterceptor::Decision d;
    if (carries_signal(m, v.header[i]))
      d = interceptor_.decide(ip_of(m, v.header[i]), v.header[i].interface, now);
    if (!d.ends) {
      v.keep(i, kept++);
      continue;
    }
    if (d.result != SignalResult::applied) {
      ++counters_[static_cast<std::size_t>(d.result)];
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
  v.size = kept;
}

SignalResult SignalStage::on_signal(const CongestionSignal& signal, Time now) {
  const SignalResult result = follow(signal, now);
  ++counters_[static_cast<std::size_t>(result)];
  return result;
}

void SignalStage::on_shared(const CongestionSignal& signal, Time now) {
  if (signal.number != SignalNumber{}) interceptor_.remember(signal, now);
  follow(signal, now);
}

SignalResult SignalStage::follow(const CongestionSignal& signal, Time now) {
  const SignalPath path = find_signal_path(*snapshot_, fib_, next_hops_, signal);
  return path.result == SignalResult::applied ? condition_.on_signal(path, port_egresses_, now) : path.result;
}

}  // namespace surety
