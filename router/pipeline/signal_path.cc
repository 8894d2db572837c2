// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/signal_path.h"

#include <cstring>

#include "router/pipeline/wire/header_fields.h"

namespace surety {

RouteTarget route_of(const Fib& fib, const IpAddress& address) {
  std::uint64_t value = 0;
  if (address.is_v6()) {
    std::uint8_t key[1][16];
    std::memcpy(key[0], address.data(), 16);
    fib.lookup6(key, &value, 1);
  } else {
    const std::uint32_t key = address.v4_host_order();
    fib.lookup4(&key, &value, 1);
  }
  return RouteTarget::decode(static_cast<std::uint32_t>(value));
}

namespace {

std::uint32_t ports_of(RouteTarget target, const NextHopTable& next_hops, const Interfaces& interfaces) {
  std::uint32_t ports = 0;
  any_way(target, next_hops, [&](InterfaceIndex i) {
    ports |= 1u << interfaces[i].port;
    return false;
  });
  return ports;
}

// The ports where packets with the signal's DSCP share a class with a CSA service's OUT packets.
std::uint32_t domain_ports(const Snapshot& snapshot, std::uint8_t dscp) {
  std::uint32_t ports = 0;
  for (const auto& d : snapshot.domains)
    if (concerns(snapshot, d, dscp)) ports |= 1u << d.port;
  return ports;
}

}  // namespace

bool concerns(const Snapshot& snapshot, const CsaDomain& domain, std::uint8_t dscp) {
  return !domain.retired && snapshot.queues[domain.port].by_dscp[dscp & 63].class_index == domain.class_index;
}

SignalPath find_signal_path(const Snapshot& snapshot, const Fib& fib, const NextHopTable& next_hops,
                            const CongestionSignal& signal) {
  if (snapshot.config.router.role != config::Router::Role::border)
    return SignalPath{.result = SignalResult::not_border, .path = {}};
  const Interfaces& interfaces = *snapshot.interfaces;
  if (!any_way(route_of(fib, signal.source), next_hops,
               [&](InterfaceIndex i) { return interfaces[i].customer(); }))
    return SignalPath{.result = SignalResult::not_customer, .path = {}};
  const RouteTarget target = route_of(fib, signal.destination);
  const std::uint32_t ports = ports_of(target, next_hops, interfaces);
  if (ports == 0) return SignalPath{.result = SignalResult::no_path, .path = {}};
  if ((ports & domain_ports(snapshot, signal.dscp)) == 0)
    return SignalPath{.result = SignalResult::no_domain, .path = {}};
  return {SignalResult::applied, path_of(signal.destination, target.narrowness), ports, signal.dscp,
          signal.kind};
}

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
