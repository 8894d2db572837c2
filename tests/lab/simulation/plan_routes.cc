// SPDX-License-Identifier: BSD-3-Clause
// Who is reached by which port: addresses of hosts and routers, the shortest ways, and what `routes` says.
#include <algorithm>
#include <array>
#include <set>

#include "tests/lab/simulation/host_routes.h"
#include "tests/lab/simulation/plan.h"
#include "tests/lab/simulation/shortest_paths.h"

namespace surety::lab {

namespace {

// Of 198.18.0.0/15 and 2001:2::/48, which are for tests of networks (RFC 2544, RFC 5180).
constexpr std::uint32_t kRouterAddresses = 198u << 24 | 18u << 16;

IpAddress router_address(std::uint32_t id, bool v6) {
  const std::uint32_t word = __builtin_bswap32(id);
  return v6 ? IpAddress{0x0200'0120, std::uint64_t{word} << 32} : IpAddress::v4(word);
}

}  // namespace

// Congestion signals come from somewhere: routers without an address of a family that hosts have get one, and
// an id if they have none.
void Plan::add_addresses() {
  const auto any = [&](bool v6) {
    return std::any_of(scenario_.hosts.begin(), scenario_.hosts.end(),
                       [&](const HostNode& h) { return h.address.is_v6() == v6; });
  };
  const bool families[2] = {any(false), any(true)};
  std::set<IpAddress> taken;
  for (const HostNode& h : scenario_.hosts) taken.insert(h.address);
  std::uint32_t id = kRouterAddresses;
  for (std::size_t r = 0; r < scenario_.routers.size(); ++r) {
    config::Config& c = scenario_.routers[r].config;
    do ++id;
    while (taken.contains(router_address(id, false)) || taken.contains(router_address(id, true)));
    bool has[2] = {};
    for (const auto& port : c.ports)
      for (const auto& p : port.addresses) has[p.address.is_v6()] = true;
    for (const bool v6 : {false, true})
      if (families[v6] && !has[v6] && !c.ports.empty())
        c.ports.front().addresses.push_back(
            {router_address(id, v6), static_cast<std::uint8_t>(v6 ? 128 : 32)});
    for (const auto& port : c.ports)
      for (const auto& p : port.addresses) own_addresses_.push_back({r, p.address});
    if (c.router.id == 0) c.router.id = id;
  }
}

void Plan::plan_routes() {
  ways_ = shortest_ways(lines_, routers_.size());
  std::vector<IpAddress> addresses;
  for (const auto& h : scenario_.hosts) addresses.push_back(h.address);
  ids_ = host_routes().ids(addresses);
  addresses.clear();
  for (const auto& own : own_addresses_) addresses.push_back(own.address);
  const auto own_ids = host_routes().ids(addresses);
  for (std::size_t r = 0; r < routers_.size(); ++r) plan_ways(r, own_ids);
}

// The next hops of a router. `own`: the ids of the routers' own addresses.
void Plan::plan_ways(std::size_t r, const std::vector<std::uint32_t>& own) {
  PlannedRouter& router = routers_[r];
  router.ids = kNextHopsFixed;
  const auto add = [&](std::uint32_t id, const NextHopEntry& entry) {
    router.next_hops.emplace_back(id, entry);
    router.ids = std::max(router.ids, id + 1);
  };
  for (std::size_t h = 0; h < hosts_.size(); ++h)
    if (const LineNumber way = towards(r, h); way != kNoLine) add(ids_[h], hop_by(way));
  for (std::size_t i = 0; i < own.size(); ++i)
    if (const LineNumber way = ways_[r][own_addresses_[i].router]; way != kNoLine) add(own[i], hop_by(way));
  // Last: routers from one file have the same addresses, and each means itself.
  NextHopEntry local;
  local.state = NextHopEntry::State::local;
  for (std::size_t i = 0; i < own.size(); ++i)
    if (own_addresses_[i].router == r) add(own[i], local);
}

NextHopEntry Plan::hop_by(LineNumber way) const {
  NextHopEntry entry;
  entry.destination = mac_of(lines_[way].to);
  entry.port = static_cast<std::uint8_t>(lines_[way].from.port);
  entry.interface = interface_of(lines_[way].from);
  const NodePort& from = lines_[way].from;
  if (from.interface) entry.tags = (*routers_[from.node].snapshot->interfaces)[entry.interface].tags;
  entry.state = NextHopEntry::State::ready;
  return entry;
}

void Plan::plan_changes() {
  for (const RouteChange& c : scenario_.routes) {
    const auto& lines = routers_[c.router].lines[c.port];
    const bool to_host = hosts_[c.host].in != kNoLine && lines_[hosts_[c.host].in].from.router &&
                         std::find(lines.begin(), lines.end(), hosts_[c.host].in) != lines.end();
    changes_.push_back({c.at, c.router, ids_[c.host], hop_by(to_host ? hosts_[c.host].in : lines.front())});
    routers_[c.router].ids = std::max(routers_[c.router].ids, ids_[c.host] + 1);
  }
}

LineNumber Plan::towards(std::size_t router, std::size_t host) const {
  const PlannedHost& h = hosts_[host];
  if (h.in == kNoLine || !lines_[h.in].from.router) return kNoLine;  // linked to nothing, or to another host
  const std::size_t last = lines_[h.in].from.node;
  return last == router ? h.in : ways_[router][last];
}

}  // namespace surety::lab
