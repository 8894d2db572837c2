// SPDX-License-Identifier: BSD-3-Clause
// Routes against the addresses of ports and interfaces.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "config/address.h"
#include "config/sales.h"
#include "config/sections.h"

namespace surety::config {
namespace {

IpAddress last_of(const Prefix& p) {
  const IpAddress m = p.mask();
  return {p.address.high | ~m.high, p.address.low | ~m.low};
}

// RFC 3927 and RFC 4291 section 2.5.6.
bool is_link_local(const Prefix& p) {
  static const Prefix v4{IpAddress::v4(169, 254, 0, 0), 16};
  return is_link_local_v6(p.address) || (p.length >= v4.length && v4.contains(p.address));
}

bool connects(const std::vector<Prefix>& addresses, const IpAddress& a) {
  return std::ranges::any_of(addresses, [&](const Prefix& p) { return p.contains(a); });
}

// The router's own addresses and the subnets that they connect, of thousands of interfaces.
class Links {
 public:
  explicit Links(const Config& c) {
    for (const Port& p : c.ports) add(p.addresses);
    for (const Interface& i : c.interfaces) add(i.addresses);
  }
  bool own(const IpAddress& a) const { return own_.contains(a); }
  bool is_subnet(const Prefix& p) const { return subnets_.contains(p); }
  // "network" or "broadcast" where it is that of a subnet; else empty.
  std::string_view reserved(const IpAddress& a) const {
    for (const std::uint8_t length : lengths_)
      if (const Prefix p{a, length}; length <= a.bits() && subnets_.contains(p.masked()))
        if (const auto name = reserved_name(p); !name.empty()) return name;
    return {};
  }
  bool connect(const IpAddress& a) const {
    return std::ranges::any_of(lengths_, [&](std::uint8_t length) {
      return length <= a.bits() && subnets_.contains(Prefix{a, length}.masked());
    });
  }

 private:
  void add(const std::vector<Prefix>& addresses) {
    for (const Prefix& p : addresses) {
      own_.insert(p.address);
      subnets_.insert(p.masked());
      lengths_.insert(p.length);
    }
  }

  std::set<IpAddress> own_;
  std::set<Prefix> subnets_;
  std::set<std::uint8_t> lengths_;
};

// The port or interface of a next hop, where the file gives one.
struct Outlet {
  std::string name;
  const std::vector<Prefix>* addresses = nullptr;
};
std::optional<Outlet> outlet_of(const NextHop& hop, const Config& c) {
  if (hop.interface) {
    const Interface& i = c.interfaces[*hop.interface];
    return Outlet{fmt::format("interface `{}`", i.name), &i.addresses};
  }
  if (!hop.port) return {};
  return Outlet{fmt::format("port `{}`", c.ports[*hop.port].name), &c.ports[*hop.port].addresses};
}

void check_gateway(Draft& draft, const Links& links, const NextHop& hop, Mark at) {
  const IpAddress& gateway = *hop.via;
  const auto outlet = outlet_of(hop, draft.config);
  if (links.own(gateway)) {
    draft.problems.warning(at, "gateway `{}` is this router itself", to_string(gateway));
  } else if (const auto reserved = links.reserved(gateway); !reserved.empty()) {
    draft.problems.warning(at, "gateway `{}` is the {} address of its subnet: no host has it",
                           to_string(gateway), reserved);
  } else if (outlet) {
    if (!is_link_local_v6(gateway) && !connects(*outlet->addresses, gateway)) {
      draft.problems.warning(at, "gateway `{}` is in no subnet of {}", to_string(gateway), outlet->name);
    }
  } else if (is_link_local_v6(gateway)) {
    draft.problems.warning(at, "gateway `{}` is link-local: say which `port` or `interface` it is on",
                           to_string(gateway));
  } else if (!links.connect(gateway)) {
    draft.problems.warning(
        at, "gateway `{}` is in no port's subnet: this route is unusable until the kernel adds one",
        to_string(gateway));
  }
}

// A static neighbor has a MAC address, and no other neighbor is resolved on its address.
void check_neighbor(Draft& draft, const Links& links, std::size_t n) {
  const Neighbor& neighbor = draft.config.neighbors[n];
  const auto outlet =
      *outlet_of({.via = {}, .port = neighbor.port, .interface = neighbor.interface}, draft.config);
  const std::string name = to_string(neighbor.address);
  const auto warn = [&](std::string what) {
    draft.problems.warning(draft.neighbor_places[n], "`{}` {}", name, what);
  };
  if (links.own(neighbor.address)) {
    warn("is this router itself");
  } else if (const auto reserved = links.reserved(neighbor.address); !reserved.empty()) {
    warn(fmt::format("is the {} address of its subnet: no host has it", reserved));
  } else if (!is_link_local_v6(neighbor.address) && !outlet.addresses->empty() &&
             !connects(*outlet.addresses, neighbor.address)) {
    warn(fmt::format("is in no subnet of {}: no route leads to it there", outlet.name));
  }
}

// A blackhole needs no port, and is always preferred to routes of a higher metric.
void check_backups(Draft& draft) {
  const std::vector<Route>& routes = draft.config.routes;
  std::map<Prefix, std::size_t> blackholes;  // the best of each prefix
  for (std::size_t i = 0; i < routes.size(); ++i) {
    if (!routes[i].blackhole) continue;
    const auto at = blackholes.emplace(routes[i].to, i).first;
    if (routes[i].metric < routes[at->second].metric) at->second = i;
  }
  for (std::size_t i = 0; i < routes.size(); ++i) {
    const auto hole = blackholes.find(routes[i].to);
    if (hole != blackholes.end() && routes[hole->second].metric < routes[i].metric)
      draft.problems.warning(draft.route_places[i],
                             "this route is never used: the blackhole at {} has a lower `metric`",
                             line_name(draft.route_places[hole->second]));
  }
}

// True if a route leaves by a port or interface with this trust, as far as the file shows.
bool leaves_by(const Route& route, Port::Trust trust, const Config& c) {
  const auto leads = [&](const auto& x, const NextHop& hop) {
    return x.trust == trust && hop.via && connects(x.addresses, *hop.via);
  };
  return std::ranges::any_of(route.next_hops, [&](const NextHop& hop) {
    if (hop.interface) return c.interfaces[*hop.interface].trust == trust;
    if (hop.port) return c.ports[*hop.port].trust == trust;
    return std::ranges::any_of(c.ports, [&](const Port& p) { return leads(p, hop); }) ||
           std::ranges::any_of(c.interfaces, [&](const Interface& x) { return leads(x, hop); });
  });
}

// Towards the core: a default route that leads to customers, and none at all where nothing else brings one.
void check_way_out(Draft& draft) {
  const Config& c = draft.config;
  const auto core = uplinks(c);
  if (core.empty() || draft.lab) return;
  for (std::size_t i = 0; i < c.routes.size(); ++i)
    if (c.routes[i].to.length == 0 && leaves_by(c.routes[i], Port::Trust::customer, c) &&
        !leaves_by(c.routes[i], Port::Trust::core, c))
      draft.problems.warning(draft.route_places[i], "the default route leads to customers instead of {}",
                             core.front().name());
  const auto leaves = [&](const Route& r) { return leaves_by(r, Port::Trust::core, c); };
  if (c.kernel.routes || std::ranges::any_of(c.routes, leaves)) return;
  draft.problems.warning(
      draft.port_places[core.front().port].name,
      "no route leaves by {}, and `kernel: {{routes: off}}` adds none: only its subnet can be reached",
      core.front().name());
}

}  // namespace

void warn_about_routes(Draft& draft) {
  const Links links(draft.config);
  for (std::size_t n = 0; n < draft.config.neighbors.size(); ++n) check_neighbor(draft, links, n);
  check_way_out(draft);
  check_backups(draft);
  const std::size_t room = draft.config.dpdk.max_routes;
  if (draft.config.routes.size() > room)
    draft.problems.warning(
        draft.route_places[room],
        "there is no room for the routes from here on: increase `dpdk: {{max_routes: {}}}`", room);
  for (std::size_t i = 0; i < draft.config.routes.size(); ++i) {
    const Route& route = draft.config.routes[i];
    const auto& hops = route.next_hops;
    if (!route.blackhole && route.to.length > 0 && !is_unicast(route.to.address) &&
        !is_unicast(last_of(route.to)))
      draft.problems.warning(draft.route_places[i], "`{}` has no unicast address: nothing is forwarded there",
                             to_string(route.to));
    if (is_link_local(route.to))
      draft.problems.warning(draft.route_places[i], "`{}` is link-local: nothing is forwarded there",
                             to_string(route.to));
    if (!hops.empty() && links.is_subnet(route.to) && hops.front().via)
      draft.problems.warning(
          draft.route_places[i],
          "`{}` is a subnet of this router: its hosts need no gateway; leave this route out",
          to_string(route.to));
    for (std::size_t j = 0; j < hops.size(); ++j) {
      if (hops[j].via) check_gateway(draft, links, hops[j], draft.gateway_places[i][j]);
    }
  }
}

}  // namespace surety::config
