// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/scenario/scenario_ends.h"

#include <fmt/format.h>

#include <algorithm>

namespace surety::lab {
namespace {

using config::quote;

std::vector<std::string> ports_of(const RouterNode& router) {
  std::vector<std::string> names;
  for (const auto& port : router.config.ports) names.push_back(router.name + "." + port.name);
  for (const auto& i : router.config.interfaces) names.push_back(router.name + "." + i.name);
  return names;
}

std::vector<std::string> all_ends(const ScenarioDraft& draft) {
  std::vector<std::string> names;
  for (const auto& set : draft.host_sets) names.push_back(set.name);
  for (const auto& router : draft.scenario.routers) {
    for (auto& port : ports_of(router)) names.push_back(std::move(port));
  }
  return names;
}

// `17` of `homes.17`: the member of a template that has this inner tag.
std::optional<std::size_t> member_of(const config::Interface& i, std::string_view name) {
  if (!i.is_template() || !name.starts_with(i.name + ".")) return {};
  const auto tag = config::parse_integer(name.substr(i.name.size() + 1), i.first_inner, i.last_inner).value;
  return tag ? std::optional<std::size_t>(*tag - i.first_inner) : std::nullopt;
}

// A port of the router, an interface, a template as a whole or one of its members.
std::optional<LinkEnd> find_on(std::size_t node, std::string_view name, const config::Config& c) {
  for (std::size_t p = 0; p < c.ports.size(); ++p)
    if (c.ports[p].name == name) return LinkEnd{.name = {}, .port = {true, node, p}, .at = {}};
  for (std::size_t d = 0; d < c.interfaces.size(); ++d) {
    const config::Interface& i = c.interfaces[d];
    const auto member = i.name == name ? std::optional<std::size_t>(0) : member_of(i, name);
    if (!member) continue;
    return LinkEnd{.name = {},
                   .port = {true, node, i.port, NodePort::Tagged{d, *member}},
                   .at = {},
                   .members = i.name == name ? i.members() : 0};
  }
  return {};
}

// Both names may have dots. Where the port alone is wrong, `router` says whose it would be.
std::optional<LinkEnd> find_port(std::string_view text, const ScenarioDraft& draft,
                                 std::optional<std::size_t>& router) {
  for (auto dot = text.find('.'); dot != text.npos; dot = text.find('.', dot + 1)) {
    const auto node = draft.find_router(text.substr(0, dot));
    if (!node) continue;
    router = node;
    if (auto end = find_on(*node, text.substr(dot + 1), draft.scenario.routers[*node].config)) return end;
  }
  return {};
}

bool refuse(const LinkEnd& end, std::string message, ScenarioDraft& draft) {
  draft.problems.error(end.at, std::move(message));
  return false;
}

bool attach_host(const LinkEnd& host, const LinkEnd& peer, ScenarioDraft& draft) {
  auto& place = draft.host_places[host.port.node];
  if (place.peer)
    return refuse(
        host,
        fmt::format("a host has one link, and `{}` has its at {}", host.name, config::line_name(place.link)),
        draft);
  place.link = host.at;
  place.peer = peer.port;
  return true;
}

bool attach_port(const LinkEnd& port, const LinkEnd& peer, ScenarioDraft& draft) {
  if (port.port.interface && peer.port.router)
    return refuse(port, fmt::format("`{}` has tags: only hosts are behind it", port.name), draft);
  auto& place = draft.router_places[port.port.node].ports[port.port.port];
  if (!place.peer.empty() && (place.peer_routes || peer.port.router))
    return refuse(port,
                  fmt::format("`{}` has a link already, to `{}` at {}; only hosts share a port", port.name,
                              place.peer, config::line_name(place.link)),
                  draft);
  if (place.peer.empty()) place.link = port.at;
  place.peer = peer.name;
  place.peer_routes = peer.port.router;
  return true;
}

bool attach_one(const LinkEnd& end, const LinkEnd& peer, ScenarioDraft& draft) {
  return end.port.router ? attach_port(end, peer, draft) : attach_host(end, peer, draft);
}

void mark_linked(const LinkEnd& end, ScenarioDraft& draft) {
  for (std::size_t k = 0; k < end.count && !end.port.router; ++k)
    draft.host_places[end.port.node + k].linked = true;
  if (end.port.router) draft.router_places[end.port.node].ports[end.port.port].linked = true;
}

}  // namespace

LinkEnd LinkEnd::replica(std::size_t k, const Scenario& scenario) const {
  LinkEnd one = *this;
  if (members > 0) {
    one.port.interface->member += k;
    const config::Interface& i =
        scenario.routers[one.port.node].config.interfaces[one.port.interface->definition];
    one.name += fmt::format(".{}", i.first_inner + one.port.interface->member);
    one.members = 0;
  }
  if (!replicas) return one;
  one.port.node += k;
  one.name = scenario.hosts[one.port.node].name;
  one.count = 1;
  return one;
}

std::optional<LinkEnd> resolve_end(const Node& node, ScenarioDraft& draft) {
  const auto* text = config::text_of(node, "a host, or a router's port like `edge.a`", draft.problems);
  if (!text) return {};
  std::optional<LinkEnd> end;
  std::optional<std::size_t> router;
  if (const auto hosts = draft.find_hosts(*text)) {
    end = LinkEnd{*text, {false, hosts->first, 0}, hosts->count, hosts->replicas, node.mark};
  } else if ((end = find_port(*text, draft, router))) {
    end->name = *text;
    end->at = node.mark;
  }
  if (end) {
    mark_linked(*end, draft);
  } else if (router && !draft.router_places[*router].unknown) {
    draft.problems.error(node.mark, no_such("port", *text, ports_of(draft.scenario.routers[*router])));
  } else if (draft.find_router(*text)) {
    draft.problems.error(node.mark,
                         fmt::format("{} is a router: say which port, like `{}.a`", quote(*text), *text));
  } else if (!router) {
    draft.problems.error(node.mark, no_such("host or port", *text, all_ends(draft)));
  }
  return end;
}

bool attach(const LinkEnd& a, const LinkEnd& b, ScenarioDraft& draft) {
  if (a.port == b.port) return refuse(b, fmt::format("a link from `{}` to itself", b.name), draft);
  return attach_one(a, b, draft) && attach_one(b, a, draft);
}

void check_links(ScenarioDraft& draft) {
  for (const auto& set : draft.host_sets) {
    if (!draft.host_places[set.first].linked)
      draft.problems.error(set.at, fmt::format("host `{}` has no link", set.name));
  }
  if (draft.problems.any_error()) return;
  for (std::size_t i = 0; i < draft.router_places.size(); ++i) {
    const auto& router = draft.scenario.routers[i];
    const auto& ports = draft.router_places[i].ports;
    for (std::size_t j = 0; j < ports.size(); ++j) {
      if (!ports[j].linked)
        draft.problems.warning(
            ports[j].name, fmt::format("port `{}.{}` has no link", router.name, router.config.ports[j].name));
    }
  }
}

}  // namespace surety::lab
