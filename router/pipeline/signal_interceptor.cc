// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/signal_interceptor.h"

#include "router/pipeline/wire/ip_bytes.h"

namespace surety {

SignalInterceptor::SignalInterceptor(const Snapshot& snapshot, const Fib& fib, const NextHopTable& next_hops,
                                     const SignalKeys* keys, const WallClock* wall, Time now)
    : fib_(fib), next_hops_(next_hops), snapshot_(&snapshot), wall_(wall) {
  const config::Config& c = snapshot.config;
  if (c.signalling.mode != config::Signalling::Mode::off && keys != nullptr && wall != nullptr)
    gate_.emplace(c.signalling, c.router.id, *keys, SignalGate::Start{now, wall->at(now)});
}

SignalInterceptor::Decision SignalInterceptor::decide(std::span<const std::uint8_t> ip,
                                                      InterfaceIndex interface, Time now) {
  Decision d{.ends = true, .signal = {}};
  const Interfaces& interfaces = *snapshot_->interfaces;
  if (interfaces[interface].customer()) {
    d.result = SignalResult::from_customer;
    return d;
  }
  const RouteTarget target = route_of(fib_, destination_of(ip.data()));
  d.ends = next_hops_.get(target.first).state == NextHopEntry::State::local ||
           any_way(target, next_hops_, [&](InterfaceIndex i) { return interfaces[i].customer(); });
  if (d.ends) d.result = gate_ ? gate_->judge(ip, now, wall_->at(now), d.signal) : SignalResult::off;
  return d;
}

}  // namespace surety
