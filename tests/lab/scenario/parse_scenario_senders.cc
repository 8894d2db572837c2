// SPDX-License-Identifier: BSD-3-Clause
// Section `senders` of a scenario.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tests/lab/scenario/node_json.h"
#include "tests/lab/scenario/scenario_sections.h"

namespace surety::lab {
namespace {

using config::quote;
using endpoints::TcpParams;

constexpr std::uint64_t kMaxPort = 9999;        // the senders' own ends are above
constexpr std::uint64_t kMaxFlows = 1'000'000;  // of all senders

std::optional<HostSet> resolve_host(const Node* node, ScenarioDraft& draft) {
  const auto* text = node ? config::text_of(*node, "the name of a host", draft.problems) : nullptr;
  if (!text) return {};
  auto found = draft.find_hosts(*text);
  if (found) return found;
  std::vector<std::string> names;
  for (const auto& set : draft.host_sets) names.push_back(set.name);
  draft.problems.error(node->mark,
                       draft.find_router(*text)
                           ? fmt::format("{} is a router; data flows from host to host", quote(*text))
                           : no_such("host", *text, names));
  return {};
}

// MTU of the link of a host: that of the router's port at its other end.
std::optional<std::uint16_t> mtu_of(std::size_t host, const ScenarioDraft& draft) {
  const auto& peer = draft.host_places[host].peer;
  if (!peer || !peer->router) return {};
  return draft.scenario.routers[peer->node].config.ports[peer->port].mtu;
}

// A receiver that never is what limits a flow, as the window that the scenario gives is the sender's.
Bytes window_for(const config::Sender& sender, Bytes least) {
  const auto* tcp = std::get_if<TcpParams>(&sender.params);
  if (!tcp) return least;
  return std::max({least, tcp->window, tcp->window_packets * tcp->common.packet});
}

// Replicas send to one host, or one host to replicas, or replicas to as many others one to one.
bool check_replicas(const HostSet& host, const HostSet& to, Mark at, config::Problems& problems) {
  if (!host.replicas || !to.replicas || host.count == to.count) return true;
  problems.error(
      at, fmt::format("{} `{}` cannot send to {} `{}` one to one", host.count, host.name, to.count, to.name));
  return false;
}

struct Places {
  Mark to, packet;
};

bool check_pair(const LabSender& s, const Places& at, ScenarioDraft& draft) {
  const auto &host = draft.scenario.hosts[s.host], &to = draft.scenario.hosts[s.to];
  const auto packet = s.sender.common().packet;
  const auto mtu = mtu_of(s.host, draft);
  if (s.host == s.to) {
    draft.problems.error(at.to, fmt::format("host `{}` sends to itself", host.name));
  } else if (host.address.is_v6() != to.address.is_v6()) {
    draft.problems.error(at.to,
                         fmt::format("`{}` has an IPv{} address and `{}` an IPv{} one", host.name,
                                     host.address.is_v6() ? 6 : 4, to.name, to.address.is_v6() ? 6 : 4));
  } else if (mtu && packet > Bytes(*mtu)) {
    draft.problems.error(at.packet, fmt::format("a packet of {} B does not fit into the MTU {} of host `{}`",
                                                packet.count(), *mtu, host.name));
  } else {
    return true;
  }
  return false;
}

void add_senders(const LabSender& like, const HostSet& host, const HostSet& to, const Places& at,
                 ScenarioDraft& draft) {
  for (std::size_t k = 0; k < std::max(host.count, to.count); ++k) {
    LabSender s = like;
    s.host = host.first + (host.replicas ? k : 0);
    s.to = to.first + (to.replicas ? k : 0);
    if (host.replicas || to.replicas) s.sender.name += fmt::format("#{}", k + 1);
    if (const auto mtu = mtu_of(s.to, draft)) s.sink.mtu = *mtu;
    if (!check_pair(s, at, draft) || draft.scenario.senders.size() > kMaxFlows) return;
    draft.scenario.senders.push_back(std::move(s));
  }
}

void check_alone(const config::MapReader& map, const config::Sender& sender, ScenarioDraft& draft) {
  if (sender.flows > config::kSourcePorts)
    draft.problems.error(map.at("flows"), fmt::format("at most {} flows: as many as there are source ports",
                                                      config::kSourcePorts));
  if (draft.scenario.duration > Duration::zero() && sender.start.from >= draft.scenario.duration)
    draft.problems.warning(map.at("start"), "the run is over before this sender starts");
}

void read_sender_line(const Node& node, std::set<std::string>& names, ScenarioDraft& draft) {
  auto& problems = draft.problems;
  config::MapReader map(node, "a sender", problems);
  const auto host = resolve_host(map.require("host"), draft);
  const auto to = resolve_host(map.require("to"), draft);
  LabSender sender;
  sender.sink.ack = endpoints::AckPolicy::every;
  config::read_sink_params(map, sender.sink, problems);
  config::read_sender(map, sender.sender, problems);
  config::read_integer(map.find("to_port"), 1, kMaxPort, sender.sender.to_port, problems);
  sender.yaml = json_text(node, {"host", "to", "to_port", "ack", "in"});
  sender.sink.window = window_for(sender.sender, sender.sink.window);
  if (!sender.sender.name.empty() && !names.insert(sender.sender.name).second)
    problems.error(map.at("name"), fmt::format("there is already a sender {}", quote(sender.sender.name)));
  check_alone(map, sender.sender, draft);
  if (host && to && check_replicas(*host, *to, map.at("to"), problems))
    add_senders(sender, *host, *to, {map.at("to"), map.at("packet")}, draft);
}

}  // namespace

void read_lab_senders(const Node& node, ScenarioDraft& draft) {
  std::set<std::string> names;
  for (const Node* n : config::sequence(
           node, "senders, like `- {name: a, host: h1, to: h2, protocol: newreno}`", draft.problems)) {
    read_sender_line(*n, names, draft);
  }
  std::uint64_t flows = 0;
  for (const auto& s : draft.scenario.senders) flows += s.sender.flows;
  if (flows > kMaxFlows)
    draft.problems.error(node.mark, fmt::format("{} flows are too many: at most {}", flows, kMaxFlows));
}

}  // namespace surety::lab
