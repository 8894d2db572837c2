// SPDX-License-Identifier: BSD-3-Clause
// Ports, sinks and senders among each other.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "config/address.h"
#include "config/sections.h"
#include "endpoints/config/endpoint_sections.h"

namespace surety::config {
namespace {

using endpoints::DccpParams;

bool over_udp(endpoints::Transport t) {
  return t == endpoints::Transport::udp || t == endpoints::Transport::dccp_udp;
}

std::string written(const Listen& l) {
  return fmt::format("{} {}", l.iperf3 ? "iperf3" : endpoints::name(l.transport), l.port);
}

// The UDP ports under which DCCP is spoken, per port; the first sink decides.
using DccpUdpPorts = std::map<std::size_t, std::uint16_t>;

DccpUdpPorts check_sinks(EndpointsDraft& draft) {
  std::map<std::tuple<std::size_t, endpoints::Transport, std::uint16_t>, std::string> owners;
  DccpUdpPorts dccp_udp;
  for (std::size_t i = 0; i < draft.config.sinks.size(); ++i) {
    const Sink& sink = draft.config.sinks[i];
    if (sink.port == EndpointsDraft::kUnknown) continue;
    for (std::size_t j = 0; j < sink.listen.size(); ++j) {
      const Listen& l = sink.listen[j];
      const Mark at = draft.listen_places[i][j];
      const endpoints::Transport as = over_udp(l.transport) ? endpoints::Transport::udp : l.transport;
      const auto [it, fresh] = owners.emplace(std::tuple(sink.port, as, l.port), written(l));
      if (!fresh) draft.problems.error(at, "`{}` already listens there", it->second);
      if (l.transport != endpoints::Transport::dccp_udp) continue;
      const auto first = dccp_udp.emplace(sink.port, l.port).first->second;
      if (first != l.port)
        draft.problems.error(at, "a port uses one UDP port for DCCP in UDP, here already {}", first);
    }
  }
  return dccp_udp;
}

// Senders of DCCP in UDP use the UDP port of the sinks beside them.
void settle_dccp_in_udp(EndpointsDraft& draft, const DccpUdpPorts& ports) {
  for (std::size_t i = 0; i < draft.config.senders.size(); ++i) {
    Sender& s = draft.config.senders[i];
    auto* dccp = std::get_if<DccpParams>(&s.params);
    if (!dccp || !dccp->udp) continue;
    if (const auto it = ports.find(s.port); it != ports.end()) dccp->udp_local_port = it->second;
    for (const Sink& sink : draft.config.sinks) {
      const bool taken =
          sink.port == s.port && std::any_of(sink.listen.begin(), sink.listen.end(), [&](auto& l) {
            return l.transport == endpoints::Transport::udp && l.port == dccp->udp_local_port;
          });
      if (taken)
        draft.problems.error(draft.sender_places[i].name,
                             "`encapsulation: udp` needs UDP port {}, but a udp sink listens there",
                             dccp->udp_local_port);
    }
  }
}

bool has_family(const EndpointPort& port, bool v6) {
  return std::any_of(port.addresses.begin(), port.addresses.end(),
                     [&](const Prefix& p) { return p.address.is_v6() == v6; });
}

void check_reach(const Sender& s, const EndpointPort& port, Mark at, Problems& problems) {
  const auto is = [&](const Prefix& p) { return p.address == s.to; };
  const auto holds = [&](const Prefix& p) { return p.masked().contains(s.to); };
  if (!has_family(port, s.to.is_v6())) {
    problems.error(at, "port `{}` has no IPv{} address to send from", port.name, s.to.is_v6() ? 6 : 4);
  } else if (std::any_of(port.addresses.begin(), port.addresses.end(), is)) {
    problems.error(at, "`{}` is an address of port `{}` itself", to_string(s.to), port.name);
  } else if (!(s.to.is_v6() ? port.gateway_v6 : port.gateway) &&
             std::none_of(port.addresses.begin(), port.addresses.end(), holds)) {
    problems.warning(at, "`{}` is in no subnet of port `{}`, which has no IPv{} gateway", to_string(s.to),
                     port.name, s.to.is_v6() ? 6 : 4);
  }
}

void check_senders(EndpointsDraft& draft) {
  std::map<std::tuple<std::size_t, endpoints::Transport, std::string, std::uint16_t>, std::uint64_t> flows;
  for (std::size_t i = 0; i < draft.config.senders.size(); ++i) {
    const Sender& s = draft.config.senders[i];
    const auto& places = draft.sender_places[i];
    if (s.to_port == 0 || s.port == EndpointsDraft::kUnknown) continue;  // reported
    const EndpointPort& port = draft.config.ports[s.port];
    check_reach(s, port, places.to, draft.problems);
    if (s.common().packet > Bytes(port.mtu))
      draft.problems.error(places.packet, "a packet of {} B does not fit into the MTU {} of port `{}`",
                           s.common().packet.count(), port.mtu, port.name);
    auto& sum = flows[{s.port, s.transport(), to_string(s.to), s.to_port}];
    const bool fitted = sum <= kSourcePorts;
    sum += s.flows;
    if (fitted && sum > kSourcePorts)
      draft.problems.error(places.flows,
                           "{} flows to one address and port, but there are only {} source ports; send some "
                           "of them to another port",
                           sum, kSourcePorts);
  }
}

}  // namespace

void validate_endpoints(EndpointsDraft& draft) {
  validate_ports(draft.base);
  settle_dccp_in_udp(draft, check_sinks(draft));
  check_senders(draft);
}

}  // namespace surety::config
