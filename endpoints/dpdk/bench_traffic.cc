// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/dpdk/bench_traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "config/address.h"

namespace surety::endpoints {

namespace {

constexpr std::uint32_t kFlowsPerLine = 50'000;  // fewer than there are local ports
constexpr std::uint16_t kFirstSinkPort = 5001;
constexpr std::uint32_t kLeastPacket = 64;

config::EndpointPort port(const char* name, const char* address) {
  config::EndpointPort p;
  p.name = name;
  p.device.kind = config::Device::Kind::null;
  p.addresses.push_back(*parse_prefix(address));
  return p;
}

Transport transport_of(const std::string& protocol) {
  if (protocol == "udp") return Transport::udp;
  if (protocol == "gtfrc") return Transport::dccp;
  if (protocol == "newreno") return Transport::tcp;
  throw std::invalid_argument(
      fmt::format("protocol `{}` cannot be measured; use udp, gtfrc or newreno", protocol));
}

void set_params(config::Sender& s, const BenchTraffic& t) {
  SenderParams common;
  common.packet = Bytes(t.packet);
  if (t.protocol == "udp") {
    s.params = UdpParams{common, t.rate, {}, {}};
  } else if (t.protocol == "gtfrc") {
    DccpParams p;
    p.common = common;
    p.tfrc.segment = common.packet;
    p.tfrc.guarantee = p.tfrc.application = t.rate;
    s.params = p;
  } else {
    TcpParams p;
    p.common = common;
    p.window_packets = t.window;
    s.params = p;
  }
}

}  // namespace

config::Endpoints bench_config(const BenchTraffic& t) {
  const Transport transport = transport_of(t.protocol);
  if (t.packet < kLeastPacket || t.packet > 1500)
    throw std::invalid_argument(
        fmt::format("packets of {} bytes cannot be measured; use {} to 1500", t.packet, kLeastPacket));
  config::Endpoints c;
  c.ports = {port("left", "10.0.0.1/24"), port("right", "10.0.0.2/24")};
  config::Sink sink;
  sink.port = 1;
  for (std::uint32_t left = t.flows; left > 0;) {
    config::Sender s;
    const auto to_port = static_cast<std::uint16_t>(kFirstSinkPort + c.senders.size());
    s.name = fmt::format("bench{}", c.senders.size() + 1);
    s.protocol = t.protocol;
    s.to = c.ports[1].addresses[0].address;
    s.to_port = to_port;
    s.flows = std::min(left, kFlowsPerLine);
    s.start = {Duration{}, t.start_spread};
    set_params(s, t);
    sink.listen.push_back({transport, to_port});
    left -= s.flows;
    c.senders.push_back(std::move(s));
  }
  c.sinks.push_back(std::move(sink));
  return c;
}

}  // namespace surety::endpoints
