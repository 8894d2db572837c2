// SPDX-License-Identifier: BSD-3-Clause
// The typed configuration of `surety-endpoint`:
// what endpoints.yaml says, checked, with every default filled in.
//
// Immutable once parsed; names have become indices. Parameters are defined beside their engines; this only
// gathers them. The vocabulary is that of the router and the lab (endpoints_schema.json).
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "config/config.h"
#include "config/parse.h"
#include "endpoints/engine/engine.h"
#include "endpoints/engine/sink_params.h"
#include "endpoints/tcp/tcp_params.h"
#include "endpoints/tfrc/dccp_params.h"
#include "endpoints/udp/udp_params.h"
#include "router/pipeline/wire/ip.h"

namespace surety::config {

// Flows of one port, one transport and one destination differ by their source ports:
// all but the well-known ones.
inline constexpr std::uint32_t kSourcePorts = 65536 - 1024;

struct EndpointPort {
  std::string name;
  Device device;
  std::vector<Prefix> addresses;
  std::optional<IpAddress> gateway, gateway_v6;  // `gateway: [10.1.0.254, "2001:db8::1"]`
  std::uint16_t mtu = 1500;
  std::optional<MacAddress> mac;
};

struct Listen {
  endpoints::Transport transport = endpoints::Transport::tcp;
  std::uint16_t port = 0;  // for dccp_udp: the UDP port; any DCCP port inside is accepted
  bool iperf3 = false;     // over tcp: iperf3's control protocol is spoken
};
struct Sink {
  std::size_t port = 0;  // index into ports
  std::vector<Listen> listen;
  endpoints::SinkParams params;
};

// A time, or a range from which each flow draws (`0 s - 100 ms`).
struct TimeRange {
  Duration from{}, to{};
};

struct Sender {
  std::string name;
  std::string protocol;  // protocol as written: gtfrc, tfrc, gtcp, newreno, reno, cubic, udp
  std::size_t port = 0;
  IpAddress to;
  std::uint16_t to_port = 0;
  std::uint32_t flows = 1;
  TimeRange start;
  std::optional<Duration> stop;
  Rate target;  // guaranteed rate that the report checks; zero: none
  std::variant<endpoints::UdpParams, endpoints::DccpParams, endpoints::TcpParams> params;

  const endpoints::SenderParams& common() const {
    return std::visit([](const auto& p) -> const endpoints::SenderParams& { return p.common; }, params);
  }
  endpoints::Transport transport() const {
    if (std::holds_alternative<endpoints::UdpParams>(params)) return endpoints::Transport::udp;
    const auto* const dccp = std::get_if<endpoints::DccpParams>(&params);
    if (dccp == nullptr) return endpoints::Transport::tcp;
    return dccp->udp ? endpoints::Transport::dccp_udp : endpoints::Transport::dccp;
  }
};

struct Endpoints {
  std::vector<EndpointPort> ports;
  std::vector<Sink> sinks;
  std::vector<Sender> senders;
  Metrics metrics{.listen = "", .top_flows = 0};  // off by default
  Dpdk dpdk;
  std::optional<Duration> duration;
  // Measured part of the run, from its start (`measure: 10 s - 60 s`, as in the lab); none: all of it.
  std::optional<TimeRange> measure;
  std::uint64_t seed = 1;
};

struct EndpointsResult {
  std::optional<Endpoints> config;      // present when there is no error
  std::vector<Diagnostic> diagnostics;  // in the order of the file
  bool ok() const { return config.has_value(); }
};
EndpointsResult parse_endpoints(std::string_view text, const std::string& file_name);
EndpointsResult parse_endpoints_file(const std::string& path);

}  // namespace surety::config
