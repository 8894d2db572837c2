// SPDX-License-Identifier: BSD-3-Clause
// Routes against the addresses of ports and interfaces.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "config/address.h"
#include "config/sections.h"

namespace surety::config {
namespace {

IpAddress last_of(const Prefix& p) {
  const IpAddress m = p.mask();
  return {p.address.high | ~m.high, p.address.low | ~m.low};
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

// What a next hop leaves by, where it says so.
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
    draft.problems.warning(at, fmt::format("gateway `{}` is this router itself", to_string(gateway)));
  } else if (outlet) {
    if (!is_link_local_v6(gateway) && !connects(*outlet->addresses, gateway)) {
      draft.problems.warning(
          at, fmt::format("gateway `{}` is in no subnet of {}", to_string(gateway), outlet->name));
    }
  } else if (is_link_local_v6(gateway)) {
    draft.problems.warning(at,
                           fmt::format("gateway `{}` is link-local: say which `port` or `interface` it is on",
                                       to_string(gateway)));
  } else if (!links.connect(gateway)) {
    draft.problems.warning(
        at, fmt::format(
                "gateway `{}` is in no port's subnet: this route stays unusable until the kernel adds one",
                to_string(gateway)));
  }
}

}  // namespace

void warn_about_routes(Draft& draft) {
  const Links links(draft.config);
  for (std::size_t i = 0; i < draft.config.routes.size(); ++i) {
    const Route& route = draft.config.routes[i];
    const auto& hops = route.next_hops;
    if (!route.blackhole && route.to.length > 0 && !is_unicast(route.to.address) &&
        !is_unicast(last_of(route.to)))
      draft.problems.warning(
          draft.route_places[i],
          fmt::format("`{}` has no unicast address: nothing is forwarded there", to_string(route.to)));
    for (std::size_t j = 0; j < hops.size(); ++j) {
      if (hops[j].via) check_gateway(draft, links, hops[j], draft.gateway_places[i][j]);
    }
  }
}

}  // namespace surety::config
