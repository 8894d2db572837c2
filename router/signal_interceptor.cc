// SPDX-License-Identifier: BSD-3-Clause
#include "router/signal_interceptor.h"

#include "router/wire/ip_bytes.h"

namespace surety {

SignalInterceptor::SignalInterceptor(const Snapshot& snapshot, const Fib& fib, const NextHopTable& next_hops,
                                     const SignalKeys* keys, const WallClock* wall)
    : fib_(fib), next_hops_(next_hops), customers_(customer_ports(snapshot.config)), wall_(wall) {
  const config::Config& c = snapshot.config;
  if (c.signalling.mode != config::Signalling::Mode::off && keys != nullptr && wall != nullptr)
    gate_.emplace(c.signalling, c.router.id, *keys);
}

SignalInterceptor::Decision SignalInterceptor::decide(std::span<const std::uint8_t> ip, PortIndex port,
                                                      Time now) {
  Decision d{.ends = true, .signal = {}};
  if ((customers_ >> port & 1) != 0) {
    d.result = SignalResult::from_customer;
    return d;
  }
  const WayOut way = way_out(fib_, next_hops_, destination_of(ip.data()));
  d.ends = way.local || (way.ports & customers_) != 0;
  if (d.ends) d.result = gate_ ? gate_->judge(ip, now, wall_->at(now), d.signal) : SignalResult::off;
  return d;
}

}  // namespace surety
