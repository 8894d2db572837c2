// SPDX-License-Identifier: BSD-3-Clause
// Sections `routes` and `neighbors`.
#include <map>

#include "config/address.h"
#include "config/reader.h"
#include "config/sections.h"

namespace surety::config {
namespace {

constexpr std::size_t kMaxNextHops = 64;

// Behind one, an address is at the tag that it was learned by.
bool is_template(std::optional<std::size_t> interface, const Draft& draft) {
  return interface && draft.config.interfaces[*interface].is_template();
}

// `via: A`, `via: [A, B]` (ECMP), with `outlet` where all of them are behind one. IPv4 also goes by gateways
// of IPv6 (RFC 8950).
void read_gateways(const Node& via, NextHop outlet, const Prefix& to, Route& route, std::vector<Mark>& places,
                   Problems& problems) {
  for (const Node* n : list_of(via)) {
    IpAddress gateway;
    if (!read_value(*n, gateway, problems)) continue;
    if (to.address.is_v6() && !gateway.is_v6()) {
      problems.error(n->mark, "destination `{}` is IPv6: gateway `{}` must be, too", to_string(to),
                     to_string(gateway));
      continue;
    }
    if (!is_unicast(gateway)) {
      problems.error(n->mark, "{} cannot be the address of a host", quote(n->text));
      continue;
    }
    for (const auto& h : route.next_hops) {
      if (h.via == gateway) problems.error(n->mark, "gateway {} is already in this route", quote(n->text));
    }
    outlet.via = gateway;
    route.next_hops.push_back(outlet);
    places.push_back(n->mark);
    if (route.next_hops.size() > kMaxNextHops) {
      problems.error(n->mark, "too many gateways: at most {}", kMaxNextHops);
      return;
    }
  }
  if (via.kind == Node::Kind::sequence && via.items.empty())
    problems.error(via.mark, "the list of gateways is empty");
}

// Reads the port or interface of a neighbor.
void read_link(MapReader& map, Neighbor& neighbor, Draft& draft) {
  std::optional<std::size_t> port;
  const Node* by = read_outlet(map, port, neighbor.interface, draft);
  if (!by && map.node().kind == Node::Kind::map)
    draft.problems.error(map.node().mark, "a neighbor needs `port` or `interface`");
  if (is_template(neighbor.interface, draft))
    draft.problems.error(
        by->mark, "{} is one interface for each inner tag: its neighbors are learned; leave this one out",
        quote(by->text));
  if (neighbor.interface) port = draft.config.interfaces[*neighbor.interface].port;
  neighbor.port = port.value_or(0);
}

// Returns true if the destination is valid.
bool read_route(const Node& node, Route& route, std::vector<Mark>& places, Draft& draft) {
  auto& problems = draft.problems;
  MapReader map(node, "a route", problems);
  const bool known = read_masked(map.require("to"), route.to, problems);
  const Node* via = map.find("via");
  NextHop outlet;
  const Node* by = read_outlet(map, outlet.port, outlet.interface, draft);
  map.read("blackhole", route.blackhole);
  read_integer(map.find("metric"), 1, UINT32_MAX, route.metric, problems);
  if (node.kind != Node::Kind::map) return known;
  if (route.blackhole && (via || by)) {
    problems.error(map.at("blackhole"),
                   "a blackhole route drops its packets; leave `via`, `port` and `interface` out");
    return known;
  }
  if (!route.blackhole && !via && !by) {
    problems.error(node.mark, "a route needs `via`, `port`, `interface` or `blackhole: true`");
    return known;
  }
  if (via && known) {
    read_gateways(*via, outlet, route.to, route, places, problems);
  } else if (!via && is_template(outlet.interface, draft)) {
    problems.error(by->mark, "{} is one interface for each inner tag: a route there needs `via`",
                   quote(by->text));
  } else if (!via && (outlet.port || outlet.interface)) {
    route.next_hops.push_back(outlet);
    places.push_back(by->mark);
  }
  return known;
}

}  // namespace

const Node* read_outlet(MapReader& map, std::optional<std::size_t>& port,
                        std::optional<std::size_t>& interface, Draft& draft) {
  const Node* p = map.find("port");
  const Node* i = map.find("interface");
  if (p && i) draft.problems.error(p->mark, "the interface already determines the port: leave `port` out");
  if (i) {
    interface = resolve_link(*i, draft);
  } else if (p) {
    port = draft.ports.resolve(*p, "port", draft.problems);
  }
  return i ? i : p;
}

void read_routes(const Node& node, Draft& draft) {
  std::map<std::pair<std::string, std::uint32_t>, Mark> lines;
  for (const Node* n :
       sequence(node, "routes, like `- {to: 198.51.100.0/24, via: 10.2.0.1}`", draft.problems)) {
    Route route;
    std::vector<Mark> gateways;
    const bool known = read_route(*n, route, gateways, draft);
    const auto [it, fresh] =
        lines.emplace(std::pair(known ? to_string(route.to) : std::string(), route.metric), n->mark);
    if (known && !fresh) {
      draft.problems.error(n->mark,
                           "`{}` already has a route, at {}; for several gateways write `via: [A, B]`, for a "
                           "backup another `metric`",
                           it->first.first, line_name(it->second));
    }
    draft.config.routes.push_back(std::move(route));
    draft.route_places.push_back(n->mark);
    draft.gateway_places.push_back(std::move(gateways));
  }
}

void read_neighbors(const Node& node, Draft& draft) {
  std::map<std::string, Mark> lines;
  for (const Node* n :
       sequence(node, "neighbors, like `- {address: 10.1.0.1, mac: .., port: lan0}`", draft.problems)) {
    Neighbor neighbor;
    MapReader map(*n, "a neighbor", draft.problems);
    const bool known = map.required("address", neighbor.address);
    map.required("mac", neighbor.mac);
    read_link(map, neighbor, draft);
    if (known) {
      const auto [it, fresh] = lines.emplace(to_string(neighbor.address), n->mark);
      if (!fresh) {
        draft.problems.error(map.at("address"), "`{}` is already a neighbor, at {}", it->first,
                             line_name(it->second));
      }
    }
    draft.config.neighbors.push_back(neighbor);
    draft.neighbor_places.push_back(map.at("address"));
  }
}

}  // namespace surety::config
