// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/dpdk/traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>
#include <tuple>

#include "conditioners/rng.h"
#include "endpoints/tcp/iperf3_sink.h"
#include "endpoints/tcp/tcp_receiver.h"
#include "endpoints/tcp/tcp_sender.h"
#include "endpoints/tfrc/dccp_receiver.h"
#include "endpoints/tfrc/dccp_sender.h"
#include "endpoints/udp/udp_sender.h"
#include "endpoints/udp/udp_sink.h"

namespace surety::endpoints {

namespace {

constexpr std::uint32_t kFirstPort = 49152;  // RFC 6335 6: dynamic ports, then all others
constexpr std::uint32_t kPorts = config::kSourcePorts, kLowestPort = 65536 - kPorts;

std::uint16_t nth_port(std::uint32_t n) {
  return static_cast<std::uint16_t>(kLowestPort + (kFirstPort - kLowestPort + n) % kPorts);
}

// The UDP port under which a port speaks DCCP in UDP (RFC 6773): one for its sinks and senders.
std::uint16_t dccp_udp_port(const config::Endpoints& c, std::size_t port) {
  for (const auto& sink : c.sinks)
    for (const auto& l : sink.listen)
      if (sink.port == port && l.transport == Transport::dccp_udp) return l.port;
  for (const auto& s : c.senders)
    if (const auto* d = std::get_if<DccpParams>(&s.params); d != nullptr && s.port == port && d->udp)
      return d->udp_local_port;
  return kDccpUdpPort;
}

StationParams station_params(const config::EndpointPort& p, const MacAddress& mac) {
  StationParams s;
  s.mac = mac;
  s.addresses = p.addresses;
  for (const auto& g : {p.gateway, p.gateway_v6})
    if (g) s.gateways.push_back(*g);
  s.mtu = p.mtu;
  return s;
}

std::uint32_t flows_of(const config::Endpoints& c, std::size_t port) {
  std::uint32_t n = 0;
  for (const auto& s : c.senders) n += s.port == port ? s.flows : 0;
  return n;
}

bool has_sinks(const config::Endpoints& c, std::size_t port) {
  return std::any_of(c.sinks.begin(), c.sinks.end(), [&](const auto& s) { return s.port == port; });
}

std::unique_ptr<Acceptor> make_acceptor(const config::Listen& l, const SinkParams& params,
                                        std::uint64_t seed) {
  switch (l.transport) {
    case Transport::tcp:
      if (l.iperf3) return std::make_unique<Iperf3Acceptor>(params, seed);
      return std::make_unique<TcpAcceptor>(params, seed);
    case Transport::udp:
      return std::make_unique<UdpAcceptor>(params);
    case Transport::dccp:
    case Transport::dccp_udp:
      return std::make_unique<DccpAcceptor>(params, seed);
  }
  return nullptr;
}

std::size_t engine_bytes(const config::Sender& s) {
  if (std::holds_alternative<UdpParams>(s.params)) return sizeof(UdpSender);
  return std::holds_alternative<TcpParams>(s.params) ? sizeof(TcpSender) : sizeof(DccpSender);
}

Duration draw(const config::TimeRange& range, Rng& rng) {
  const auto width = static_cast<double>((range.to - range.from).count());
  return range.from + Duration(static_cast<std::int64_t>(width * rng.uniform()));
}

// Adds one flow's engine to its host.
struct Add {
  Host& host;
  const SenderFlow& flow;
  std::uint64_t seed;
  FlowIndex operator()(const UdpParams& p) const {
    return host.add<UdpSender>(flow.transport, flow.tuple, p, flow.tuple, flow.schedule);
  }
  FlowIndex operator()(const DccpParams& p) const {
    return host.add<DccpSender>(flow.transport, flow.tuple, p, flow.tuple, flow.schedule, seed);
  }
  FlowIndex operator()(const TcpParams& p) const {
    return host.add<TcpSender>(flow.transport, flow.tuple, p, flow.tuple, flow.schedule, seed);
  }
};

}  // namespace

Traffic::Traffic(const config::Endpoints& config, std::span<const MacAddress> macs,
                 std::uint32_t accepted_flows, Time now, std::uint64_t secret)
    : config_(config), secret_(secret) {
  make_acceptors();
  make_stations(macs, accepted_flows, now);
  listen();
  plan_flows();
}

Traffic::~Traffic() = default;

void Traffic::make_acceptors() {
  Rng seeds(config_.seed ^ secret_ ^ 0x5111);
  for (std::size_t sink = 0; sink < config_.sinks.size(); ++sink)
    for (const auto& l : config_.sinks[sink].listen) {
      const std::uint64_t seed = std::uint64_t{seeds.next()} << 32 | seeds.next();
      acceptors_.push_back({sink, l, make_acceptor(l, config_.sinks[sink].params, seed)});
    }
}

// Slots as large as the largest engine that may come.
std::size_t Traffic::largest_engine(std::size_t port) const {
  std::size_t n = 0;
  for (const auto& s : config_.senders)
    if (s.port == port) n = std::max(n, engine_bytes(s));
  for (const auto& a : acceptors_)
    if (config_.sinks[a.sink].port == port) n = std::max(n, a.acceptor->engine_bytes());
  return std::max<std::size_t>(n, 64);
}

void Traffic::make_stations(std::span<const MacAddress> macs, std::uint32_t accepted_flows, Time now) {
  for (std::size_t p = 0; p < config_.ports.size(); ++p) {
    HostParams host;
    host.max_flows = std::max(1u, flows_of(config_, p) + (has_sinks(config_, p) ? accepted_flows : 0));
    host.seed = (config_.seed ^ secret_) + p;
    host.dccp_udp_port = dccp_udp_port(config_, p);
    host.engine_bytes = largest_engine(p);
    stations_.push_back(std::make_unique<Station>(station_params(config_.ports[p], macs[p]), host, now));
  }
}

void Traffic::listen() {
  for (const auto& [sink, l, acceptor] : acceptors_) {
    const std::size_t port = config_.sinks[sink].port;
    const std::uint16_t number = l.transport == Transport::dccp_udp ? std::uint16_t{0} : l.port;
    if (!stations_[port]->host().listen(l.transport, number, *acceptor))
      throw std::runtime_error(fmt::format("sinks: {} {} of port {} is listed twice; leave one out",
                                           endpoints::name(l.transport), l.port, config_.ports[port].name));
  }
}

void Traffic::plan_flows() {
  Rng rng(config_.seed);
  // Flows to one address and port differ by their local ports.
  std::map<std::tuple<std::size_t, Transport, std::uint64_t, std::uint64_t, std::uint16_t>, std::uint32_t>
      used;
  for (std::size_t line = 0; line < config_.senders.size(); ++line) {
    const auto& s = config_.senders[line];
    SenderFlow f{line, s.port, 0, s.transport(), {}, {}, kNoFlowIndex};
    f.tuple.remote = s.to;
    f.tuple.remote_port = s.to_port;
    if (!stations_[s.port]->local_address(f.tuple.remote, f.tuple.local))
      throw std::runtime_error(
          fmt::format("sender {}: port {} has no IPv{} address; give it one, or use another port", s.name,
                      config_.ports[s.port].name, s.to.is_v6() ? 6 : 4));
    std::uint32_t& next = used[{s.port, f.transport, f.tuple.remote.high, f.tuple.remote.low, s.to_port}];
    if (!stations_[s.port]->reachable(f.tuple.remote))
      throw std::runtime_error(
          fmt::format("sender {}: {} is not on a link of port {}; give the port a `gateway:`", s.name,
                      to_string(s.to), config_.ports[s.port].name));
    for (std::uint32_t n = 0; n < s.flows; ++n, ++next) {
      if (next >= kPorts)
        throw std::runtime_error(
            fmt::format("sender {}: at most {} flows to one address and port, since each needs a local port; "
                        "send some to another port",
                        s.name, kPorts));
      f.number = n;
      f.tuple.local_port = nth_port(next);
      f.schedule.start = Time{} + draw(s.start, rng);
      f.schedule.stop = s.stop ? Time{} + *s.stop : kNever;
      flows_.push_back(f);
    }
  }
}

std::optional<std::size_t> Traffic::unresolved() const {
  for (std::size_t line = 0; line < config_.senders.size(); ++line) {
    const auto& s = config_.senders[line];
    if (!stations_[s.port]->resolved(s.to)) return line;
  }
  return std::nullopt;
}

void Traffic::resolve(Time now) {
  for (const auto& s : config_.senders)
    if (!stations_[s.port]->resolved(s.to)) stations_[s.port]->resolve(s.to, now);
}

void Traffic::start(Time zero) {
  Rng seeds(~(config_.seed ^ secret_));
  for (auto& f : flows_) {
    f.schedule.start += zero - Time{};
    if (f.schedule.stop != kNever) f.schedule.stop += zero - Time{};
    const std::uint64_t seed = std::uint64_t{seeds.next()} << 32 | seeds.next();
    f.index = std::visit(Add{stations_[f.port]->host(), f, seed}, config_.senders[f.line].params);
  }
}

void Traffic::close(bool with_senders, Time now) {
  for (std::size_t p = 0; p < stations_.size(); ++p)
    if ((flows_of(config_, p) > 0) == with_senders) stations_[p]->host().close_all(now);
}

const Engine* Traffic::engine(const SenderFlow& f) const {
  return f.index == kNoFlowIndex ? nullptr : &stations_[f.port]->host().engine(f.index);
}

}  // namespace surety::endpoints
