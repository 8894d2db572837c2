// SPDX-License-Identifier: BSD-3-Clause
#include "config/port_places.h"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

namespace surety::config {

namespace {

// A placeholder without customers and routes.
Port nobody() {
  Port port;
  port.trust = Port::Trust::core;
  port.source_check = Port::SourceCheck::off;
  return port;
}

void renumber(Config& c, const std::vector<std::size_t>& to) {
  const auto follow = [&](auto& all) {
    for (auto& x : all) x.port = to[x.port];
  };
  const auto follow_if_named = [&](std::optional<std::size_t>& port) {
    if (port) port = to[*port];
  };
  follow(c.groups);
  follow(c.interfaces);
  follow(c.neighbors);
  follow(c.aggregates);
  for (Route& route : c.routes)
    for (NextHop& hop : route.next_hops) follow_if_named(hop.port);
  for (Rule& rule : c.rules) follow_if_named(rule.match.port);
}

}  // namespace

bool goes_on(const Port& a, const Port& b) {
  return a.name == b.name && a.device == b.device && a.mac == b.mac && a.twin == b.twin &&
         a.owner == b.owner && a.rx_queues == b.rx_queues && a.rx_workers == b.rx_workers &&
         a.dispatch == b.dispatch;
}

std::size_t PortPlaces::find_room(const Places& before, const Places& next, const Port& port) {
  for (std::size_t p = 0; p < next.size(); ++p)
    if (!before[p].port && !before[p].resting && !next[p].port) return p;
  throw std::runtime_error(
      "there is no room for port " + port.name + ": a router has " + std::to_string(kMaxPorts) +
      " places, and the place of a removed or reopened port is free after one more reload");
}

Config PortPlaces::place(Config next) {
  Places places;
  std::vector<std::size_t> to(next.ports.size(), kMaxPorts);
  for (std::size_t i = 0; i < next.ports.size(); ++i) {
    const auto at = std::ranges::find_if(
        places_, [&](const Place& p) { return p.port && goes_on(*p.port, next.ports[i]); });
    if (at == places_.end()) continue;
    to[i] = static_cast<std::size_t>(at - places_.begin());
    places[to[i]].port = next.ports[i];
  }
  for (std::size_t i = 0; i < next.ports.size(); ++i) {
    if (to[i] != kMaxPorts) continue;
    to[i] = find_room(places_, places, next.ports[i]);
    places[to[i]].port = next.ports[i];
  }
  for (std::size_t p = 0; p < places.size(); ++p)
    places[p].resting = places_[p].port && (!places[p].port || !goes_on(*places_[p].port, *places[p].port));
  renumber(next, to);
  next.ports.clear();
  for (const Place& p : places) next.ports.push_back(p.port.value_or(nobody()));
  places_ = std::move(places);
  return next;
}

}  // namespace surety::config
