// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/live/live_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

namespace surety::lab {

namespace {

using Json = nlohmann::ordered_json;

constexpr Duration kPause =
    std::chrono::milliseconds(10);  // that a busy machine may keep a worker from its port

std::string text(Duration d) {
  return fmt::format("{} ns", d.count());
}
std::string text(Rate r) {
  return fmt::format("{} bit/s", r.bits_per_second());
}
std::string text(Bytes b) {
  return fmt::format("{} B", b.count());
}
std::string text(const config::TimeRange& t) {
  return fmt::format("{} - {}", text(t.from), text(t.to));
}
std::string with_length(const IpAddress& a, unsigned length) {
  return fmt::format("{}/{}", to_string(a), length);
}
const char* on_off(bool on) {
  return on ? "on" : "off";
}

// What holds the port back: its shaper, or the one link behind it that has no queue of its own.
std::optional<Rate> rate_of(const Plan& plan, std::size_t router, std::size_t port) {
  std::optional<Rate> rate = plan.scenario().routers[router].config.ports[port].shaper.rate;
  const auto& lines = plan.routers()[router].lines[port];
  if (lines.size() != 1) return rate;
  const LinkDirection& link = *plan.lines()[lines[0]].parameters;
  if (link.rate && !link.queue && (!rate || *link.rate < *rate)) rate = link.rate;
  return rate;
}

Json port_of(const Plan& plan, const LiveLayout& layout, std::size_t router, std::size_t port, Json own) {
  for (const char* of_its_own_machine : {"mac", "worker", "receive", "twin"}) own.erase(of_its_own_machine);
  const auto& lines = plan.routers()[router].lines[port];
  own["device"] =
      lines.empty() ? "null" : "af_xdp " + layout.interfaces[layout.interface_of({true, router, port})].name;
  Json addresses = Json::array();
  for (const LineNumber n : lines) addresses.push_back(with_length(near_address(n), kLinkPrefix));
  own.erase("addresses");
  if (!addresses.empty()) own["addresses"] = std::move(addresses);
  if (const auto rate = rate_of(plan, router, port)) {
    const auto& shaper = plan.scenario().routers[router].config.ports[port].shaper;
    const Bytes pause(static_cast<std::uint64_t>(rate->bytes_per_second() * seconds(kPause)));
    own["shape"] = text(*rate);
    own["burst"] = text(std::max(shaper.burst, pause));
  }
  return own;
}

Json station(const PlannedLine& line, const MacAddress& mac, const IpAddress& address,
             const config::Config& c) {
  return {{"address", to_string(address)}, {"mac", to_string(mac)}, {"port", c.ports[line.from.port].name}};
}

// An id as YAML has it: four numbers.
std::string dotted(std::uint32_t id) {
  return fmt::format("{}.{}.{}.{}", id >> 24, id >> 16 & 0xff, id >> 8 & 0xff, id & 0xff);
}

Json signalling(const config::Signalling& s) {
  return {{"mode", s.mode == config::Signalling::Mode::observe ? "observe" : "act"},
          {"key_file", kLiveKeyFile},
          {"max_age", text(s.max_age)},
          {"report", s.report == config::Signalling::Report::events ? "events" : "samples"},
          {"queue_limit", std::to_string(s.queue_limit)},
          {"source_limit", std::to_string(s.source_limit)}};
}

const MacAddress& mac_of(const Plan& plan, const NodePort& n) {
  return n.router ? plan.routers()[n.node].macs[n.port] : plan.hosts()[n.node].mac;
}

}  // namespace

std::string key_file(const std::array<std::uint8_t, 16>& key) {
  std::string digits;
  for (const std::uint8_t byte : key) digits += fmt::format("{:02x}", byte);
  return fmt::format("keys:\n  - {{id: 1, key: {}}}\n", digits);
}

std::string live_router_name(const LiveLayout& layout, const std::string& router) {
  return layout.prefix + router;
}

std::string router_configuration(const Plan& plan, const LiveLayout& layout, std::size_t router,
                                 unsigned core) {
  const RouterNode& node = plan.scenario().routers[router];
  Json out = Json::parse(node.yaml);
  out["version"] = "1";
  out["router"]["name"] = live_router_name(layout, node.name);
  out["workers"] = Json::array({std::to_string(core)});
  for (std::size_t p = 0; p < node.config.ports.size(); ++p) {
    Json& port = out["ports"][node.config.ports[p].name];
    port = port_of(plan, layout, router, p, std::move(port));
  }
  Json routes = Json::array(), neighbors = Json::array();
  for (const auto& lines : plan.routers()[router].lines)
    for (const LineNumber n : lines) {
      const PlannedLine& l = plan.lines()[n];
      neighbors.push_back(station(l, mac_of(plan, l.to), far_address(n), node.config));
    }
  const auto ways = live_routes(plan);
  for (std::size_t h = 0; h < plan.hosts().size(); ++h) {
    const LineNumber way = ways[router][h];
    if (way != kNoLine)
      routes.push_back(
          {{"to", with_length(plan.scenario().hosts[h].address, 32)}, {"via", to_string(far_address(way))}});
  }
  out["routes"] = std::move(routes);
  out["neighbors"] = std::move(neighbors);
  out.erase("signalling");
  if (node.signalling) {
    out["router"]["id"] = dotted(node.config.router.id);
    out["signalling"] = signalling(node.config.signalling);
  }
  out["metrics"] = {{"listen", "off"}};
  out["dpdk"] = {{"hugepages", "off"}, {"max_routes", "1024"}};
  out["kernel"] = {{"routes", on_off(false)}, {"addresses", on_off(true)}};
  return out.dump(2) + '\n';
}

namespace {

Json endpoint_port(const Plan& plan, const LiveInterface& i) {
  const PlannedHost& host = plan.hosts()[i.at.node];
  return {{"device", "af_packet " + i.name},
          {"addresses", Json::array({with_length(plan.scenario().hosts[i.at.node].address, 32),
                                     with_length(near_address(host.out), kLinkPrefix)})},
          {"gateway", to_string(far_address(host.out))},
          {"mtu", std::to_string(i.mtu)}};
}

Json sink(const PlannedFlow& flow, const endpoints::SinkParams& params, const std::string& port) {
  Json in = Json::array();
  for (unsigned d = 0; d < 64; ++d)
    if (params.counts_as_in(static_cast<std::uint8_t>(d)))
      in.push_back(config::dscp_name(static_cast<config::Dscp>(d)));
  return {{"port", port},
          {"listen",
           Json::array({fmt::format("{} {}", endpoints::name(flow.transport), flow.tuple.remote_port)})},
          {"ack", params.ack == endpoints::AckPolicy::every ? "every" : "delayed"},
          {"window", text(params.window)},
          {"in", std::move(in)}};
}

// `f#2` of a replicated host is a name only in the lab.
std::string endpoint_name(std::string name) {
  std::replace(name.begin(), name.end(), '#', '.');
  return name;
}

}  // namespace

std::string endpoint_configuration(const Plan& plan, const LiveLayout& layout, std::uint64_t seed) {
  const Scenario& s = plan.scenario();
  const auto port_of = [&](std::size_t host) {
    return layout.interfaces[layout.interface_of({false, host, 0})].name;
  };
  Json out = {
      {"version", "1"}, {"ports", Json::object()}, {"sinks", Json::array()}, {"senders", Json::array()}};
  for (const auto& i : layout.interfaces)
    if (!i.at.router) out["ports"][i.name] = endpoint_port(plan, i);
  std::set<std::tuple<std::size_t, endpoints::Transport, std::uint16_t>> listening;
  for (const auto& flow : plan.flows()) {
    if (flow.number != 0) continue;
    const LabSender& sender = s.senders[flow.sender];
    Json line = Json::parse(sender.yaml);
    line["name"] = endpoint_name(sender.sender.name);
    line["port"] = port_of(sender.host);
    line["to"] = fmt::format("{}:{}", to_string(s.hosts[sender.to].address), flow.tuple.remote_port);
    out["senders"].push_back(std::move(line));
    // Senders with equal sink parameters share one.
    if (listening.emplace(sender.to, flow.transport, flow.tuple.remote_port).second)
      out["sinks"].push_back(sink(flow, sender.sink, port_of(sender.to)));
  }
  out["duration"] = text(s.duration);
  out["measure"] = text(s.measure);
  out["seed"] = std::to_string(seed);
  out["dpdk"] = {{"hugepages", "off"}};
  return out.dump(2) + '\n';
}

}  // namespace surety::lab
