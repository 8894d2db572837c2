// SPDX-License-Identifier: BSD-3-Clause
// Section `routes` of a scenario: where a router sends from a time on, other than the shortest way.
#include <fmt/format.h>

#include <algorithm>

#include "tests/lab/scenario/scenario_ends.h"

namespace surety::lab {
namespace {

using config::quote;

std::optional<HostSet> resolve_host(const Node* node, ScenarioDraft& draft) {
  const auto* text = node ? config::text_of(*node, "the name of a host", draft.problems) : nullptr;
  if (!text) return {};
  auto found = draft.find_hosts(*text);
  if (found) return found;
  std::vector<std::string> names;
  for (const auto& set : draft.host_sets) names.push_back(set.name);
  draft.problems.error(node->mark, no_such("host", *text, names));
  return {};
}

std::optional<LinkEnd> resolve_port(const Node* node, ScenarioDraft& draft) {
  if (!node) return {};
  auto end = resolve_end(*node, draft);
  if (!end || end->port.router) return end;
  draft.problems.error(
      node->mark, fmt::format("{} is a host: say by which router's port, like `edge.a`", quote(end->name)));
  return {};
}

// To another router, which knows the way; or to the host itself.
bool leads_to(const LinkEnd& by, const HostSet& hosts, ScenarioDraft& draft) {
  const auto& place = draft.router_places[by.port.node].ports[by.port.port];
  if (place.peer.empty()) {
    draft.problems.error(by.at, fmt::format("`{}` has no link", by.name));
    return false;
  }
  const auto behind = [&](std::size_t host) { return draft.host_places[host].peer == by.port; };
  for (std::size_t h = hosts.first; h < hosts.first + hosts.count && !place.peer_routes; ++h) {
    if (behind(h)) continue;
    draft.problems.error(by.at, fmt::format("`{}` leads to hosts, and {} is none of them", by.name,
                                            quote(draft.scenario.hosts[h].name)));
    return false;
  }
  return true;
}

void read_change(const Node& node, ScenarioDraft& draft) {
  config::MapReader map(node, "a route", draft.problems);
  const auto hosts = resolve_host(map.require("to"), draft);
  const auto by = resolve_port(map.require("by"), draft);
  RouteChange change;
  map.read("at", change.at);
  if (draft.scenario.duration > Duration{} && change.at >= draft.scenario.duration)
    draft.problems.warning(map.at("at"), "the run is over before this route is taken");
  if (!hosts || !by || draft.router_places[by->port.node].unknown || !leads_to(*by, *hosts, draft)) return;
  change.router = by->port.node;
  change.port = by->port.port;
  for (change.host = hosts->first; change.host < hosts->first + hosts->count; ++change.host)
    draft.scenario.routes.push_back(change);
}

}  // namespace

void read_route_changes(const Node& node, ScenarioDraft& draft) {
  for (const Node* n :
       config::sequence(node, "routes, like `- {to: h1, by: edge.a, at: 60 s}`", draft.problems))
    read_change(*n, draft);
  std::stable_sort(draft.scenario.routes.begin(), draft.scenario.routes.end(),
                   [](const RouteChange& a, const RouteChange& b) { return a.at < b.at; });
}

}  // namespace surety::lab
