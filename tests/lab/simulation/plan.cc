// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/simulation/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "tests/lab/simulation/host_routes.h"
#include "tests/lab/simulation/scenario_error.h"

namespace surety::lab {

namespace {

constexpr std::uint16_t kFirstSinkPort = 5001;

// Locally administered; hosts and ports are told apart by the second byte.
MacAddress host_mac(std::size_t host) {
  return {2,
          1,
          static_cast<std::uint8_t>(host >> 24),
          static_cast<std::uint8_t>(host >> 16),
          static_cast<std::uint8_t>(host >> 8),
          static_cast<std::uint8_t>(host)};
}
MacAddress port_mac(std::size_t router, std::size_t port) {
  return {2,
          2,
          static_cast<std::uint8_t>(router >> 8),
          static_cast<std::uint8_t>(router),
          0,
          static_cast<std::uint8_t>(port)};
}

endpoints::Transport transport(const config::Sender& s) {
  if (std::holds_alternative<endpoints::UdpParams>(s.params)) return endpoints::Transport::udp;
  if (std::holds_alternative<endpoints::TcpParams>(s.params)) return endpoints::Transport::tcp;
  return std::get<endpoints::DccpParams>(s.params).udp ? endpoints::Transport::dccp_udp
                                                       : endpoints::Transport::dccp;
}

bool same(const endpoints::SinkParams& a, const endpoints::SinkParams& b) {
  return a.ack == b.ack && a.window == b.window && a.mtu == b.mtu && a.in_dscps == b.in_dscps;
}

}  // namespace

MacAddress mac_of(const NodePort& n) {
  return n.router ? port_mac(n.node, n.port) : host_mac(n.node);
}

Plan::Plan(Scenario scenario) : scenario_(std::move(scenario)) {
  lay_lines();
  plan_hosts();
  add_addresses();
  plan_routers();
  tag_hosts();
  plan_routes();
  plan_changes();
  plan_flows();
}

const Fib& Plan::fib() const {
  return host_routes().fib();
}

std::string Plan::host_of(const Path& path) const {
  const auto host = std::ranges::find(scenario_.hosts, path.address, &HostNode::address);
  return host == scenario_.hosts.end() || path.length != path.address.bits() ? "others" : host->name;
}

void Plan::lay_lines() {
  for (const Link& l : scenario_.links) {
    lines_.push_back({l.a, l.b, &l.forth});
    lines_.push_back({l.b, l.a, &l.back});
  }
}

void Plan::plan_hosts() {
  for (std::size_t h = 0; h < scenario_.hosts.size(); ++h) {
    PlannedHost& host = hosts_.emplace_back();
    host.address = scenario_.hosts[h].address;
    host.mac = host_mac(h);
  }
  for (LineNumber n = 0; n < lines_.size(); ++n) {
    if (!lines_[n].from.router) {
      PlannedHost& host = hosts_[lines_[n].from.node];
      host.out = n;
      host.peer_mac = mac_of(lines_[n].to);
    }
    if (!lines_[n].to.router) hosts_[lines_[n].to.node].in = n;
  }
}

void Plan::plan_routers() {
  for (std::size_t r = 0; r < scenario_.routers.size(); ++r) {
    PlannedRouter& router = routers_.emplace_back();
    config::Config config = scenario_.routers[r].config;
    config.router.name = scenario_.routers[r].name;
    router.lines.resize(config.ports.size());
    for (std::size_t p = 0; p < config.ports.size(); ++p) router.macs.push_back(port_mac(r, p));
    router.snapshot = std::make_unique<const Snapshot>(std::move(config));
  }
  for (LineNumber n = 0; n < lines_.size(); ++n)
    if (const NodePort& from = lines_[n].from; from.router) routers_[from.node].lines[from.port].push_back(n);
}

InterfaceIndex Plan::interface_of(const NodePort& n) const {
  if (!n.interface) return static_cast<InterfaceIndex>(n.port);
  const Interfaces& all = *routers_[n.node].snapshot->interfaces;
  const InterfaceIndex first = all.of_definition(n.interface->definition);
  return static_cast<InterfaceIndex>(all[first].is_template ? first + 1 + n.interface->member : first);
}

void Plan::tag_hosts() {
  for (PlannedHost& h : hosts_) {
    if (h.out == kNoLine || !lines_[h.out].to.interface) continue;
    const NodePort& to = lines_[h.out].to;
    h.tags = (*routers_[to.node].snapshot->interfaces)[interface_of(to)].tags;
  }
}

// Ports that senders ask for are left to them: a router's rules may look at them.
std::uint16_t Plan::sink_port(const LabSender& s, endpoints::Transport t) {
  const std::uint16_t asked = s.sender.to_port;
  if (asked >= kFirstFlowPort)
    throw ScenarioError(fmt::format("sender {}: port {} is taken by the senders' ends; use one below {}",
                                    s.sender.name, asked, kFirstFlowPort));
  for (const PlannedSink& sink : sinks_) {
    if (sink.transport != t || (asked == 0 ? sink.chosen : asked != sink.port)) continue;
    if (same(sink.params, s.sink)) return sink.port;
    if (asked != 0)
      throw ScenarioError(
          fmt::format("sender {}: another sender to port {} needs its packets acknowledged in another way; "
                      "give one of them another port",
                      s.sender.name, asked));
  }
  const auto taken = [&](std::uint16_t port) {
    return std::any_of(scenario_.senders.begin(), scenario_.senders.end(),
                       [&](const LabSender& o) { return o.sender.to_port == port; }) ||
           std::any_of(sinks_.begin(), sinks_.end(),
                       [&](const PlannedSink& o) { return o.transport == t && o.port == port; });
  };
  std::uint16_t port = asked != 0 ? asked : kFirstSinkPort;
  while (asked == 0 && taken(port)) ++port;
  sinks_.push_back({t, port, s.sink, asked != 0});
  return port;
}

void Plan::plan_flows() {
  for (std::size_t i = 0; i < scenario_.senders.size(); ++i) {
    const LabSender& s = scenario_.senders[i];
    const auto& from = scenario_.hosts[s.host];
    const auto& to = scenario_.hosts[s.to];
    const LineNumber out = hosts_[s.host].out;
    const bool direct = out != kNoLine && !lines_[out].to.router && lines_[out].to.node == s.to;
    const bool routed =
        out != kNoLine && lines_[out].to.router && towards(lines_[out].to.node, s.to) != kNoLine;
    if (!direct && !routed)
      throw ScenarioError(fmt::format("sender {}: there is no path from {} to {}; link them", s.sender.name,
                                      from.name, to.name));
    const endpoints::Transport t = transport(s.sender);
    const std::uint16_t to_port = sink_port(s, t);
    for (std::uint32_t n = 0; n < s.sender.flows; ++n) {
      if (flows_.size() == kMaxFlows)
        throw ScenarioError(fmt::format("more than {} flows; split them into several runs", kMaxFlows));
      PlannedFlow& f = flows_.emplace_back();
      f.sender = i;
      f.number = n;
      f.name = s.sender.flows == 1 ? s.sender.name : fmt::format("{}#{}", s.sender.name, n + 1);
      f.transport = t;
      f.tuple = {hosts_[s.host].address, hosts_[s.to].address,
                 static_cast<std::uint16_t>(kFirstFlowPort + flows_.size() - 1), to_port};
    }
  }
}

std::shared_ptr<const Plan> make_plan(Scenario scenario) {
  return std::make_shared<const Plan>(std::move(scenario));
}

const Scenario& scenario_of(const Plan& plan) {
  return plan.scenario();
}

}  // namespace surety::lab
