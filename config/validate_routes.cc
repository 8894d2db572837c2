// SPDX-License-Identifier: BSD-3-Clause
// Routes against the ports' addresses.
#include <fmt/format.h>

#include <algorithm>

#include "config/address.h"
#include "config/sections.h"

namespace surety::config {
namespace {

bool connects(const Port& port, const IpAddress& a) {
  return std::any_of(port.addresses.begin(), port.addresses.end(),
                     [&](const Prefix& p) { return p.contains(a); });
}

bool owns(const Port& port, const IpAddress& a) {
  return std::any_of(port.addresses.begin(), port.addresses.end(),
                     [&](const Prefix& p) { return p.address == a; });
}

void check_gateway(Draft& draft, const NextHop& hop, Mark at) {
  const auto& ports = draft.config.ports;
  const IpAddress& gateway = *hop.via;
  if (std::any_of(ports.begin(), ports.end(), [&](const Port& p) { return owns(p, gateway); })) {
    draft.problems.warning(at, fmt::format("gateway `{}` is this router itself", to_string(gateway)));
  } else if (hop.port) {
    if (!is_link_local_v6(gateway) && !connects(ports[*hop.port], gateway)) {
      draft.problems.warning(at, fmt::format("gateway `{}` is in no subnet of port `{}`", to_string(gateway),
                                             ports[*hop.port].name));
    }
  } else if (is_link_local_v6(gateway)) {
    draft.problems.warning(
        at, fmt::format("gateway `{}` is link-local: say which `port` it is on", to_string(gateway)));
  } else if (std::none_of(ports.begin(), ports.end(), [&](const Port& p) { return connects(p, gateway); })) {
    draft.problems.warning(
        at, fmt::format(
                "gateway `{}` is in no port's subnet: this route stays unusable until the kernel adds one",
                to_string(gateway)));
  }
}

}  // namespace

void warn_about_routes(Draft& draft) {
  for (std::size_t i = 0; i < draft.config.routes.size(); ++i) {
    const auto& hops = draft.config.routes[i].next_hops;
    for (std::size_t j = 0; j < hops.size(); ++j) {
      if (hops[j].via) check_gateway(draft, hops[j], draft.gateway_places[i][j]);
    }
  }
}

}  // namespace surety::config
