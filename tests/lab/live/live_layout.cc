// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/live/live_layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "tests/lab/simulation/shortest_paths.h"

namespace surety::lab {

namespace {

constexpr std::uint16_t kMtu = 1500;
constexpr std::uint32_t kLinkBase = 100u << 24 | 64u << 16;

// What a host sends must fit, whatever the router's port thinks of it.
std::uint16_t host_mtu(const Plan& plan, std::size_t host) {
  const Scenario& s = plan.scenario();
  std::uint16_t mtu = kMtu;
  if (const LineNumber out = plan.hosts()[host].out; out != kNoLine)
    if (const NodePort& peer = plan.lines()[out].to; peer.router)
      mtu = s.routers[peer.node].config.ports[peer.port].mtu;
  for (const auto& sender : s.senders)
    if (sender.host == host || sender.to == host)
      mtu = std::max(mtu, static_cast<std::uint16_t>(sender.sender.common().packet.count()));
  return mtu;
}

}  // namespace

LiveLayout live_layout(const Plan& plan, const std::string& prefix) {
  const Scenario& s = plan.scenario();
  LiveLayout out{prefix, prefix + "wire", prefix + "hosts", {}, {}};
  for (std::size_t r = 0; r < s.routers.size(); ++r) {
    out.router_spaces.push_back(prefix + "router-" + s.routers[r].name);
    const PlannedRouter& router = plan.routers()[r];
    for (std::size_t p = 0; p < router.lines.size(); ++p) {
      if (router.lines[p].empty()) continue;
      out.interfaces.push_back({{true, r, p},
                                out.router_spaces[r],
                                fmt::format("p{}", p),
                                fmt::format("r{}p{}", r, p),
                                router.macs[p],
                                s.routers[r].config.ports[p].mtu});
    }
  }
  for (std::size_t h = 0; h < s.hosts.size(); ++h) {
    if (plan.hosts()[h].out == kNoLine) continue;
    const std::string name = fmt::format("h{}", h);
    out.interfaces.push_back(
        {{false, h, 0}, out.host_space, name, name, plan.hosts()[h].mac, host_mtu(plan, h)});
  }
  return out;
}

std::size_t LiveLayout::interface_of(const NodePort& p) const {
  const auto found =
      std::find_if(interfaces.begin(), interfaces.end(), [&](const auto& i) { return i.at == p; });
  return static_cast<std::size_t>(found - interfaces.begin());
}

IpAddress link_address(std::size_t link, bool end_b) {
  const auto n = static_cast<std::uint32_t>(kLinkBase + 4 * link + (end_b ? 2 : 1));
  return IpAddress::v4(__builtin_bswap32(n));
}

IpAddress near_address(LineNumber line) {
  return link_address(line / 2, line % 2 == 1);
}
IpAddress far_address(LineNumber line) {
  return link_address(line / 2, line % 2 == 0);
}

std::vector<std::vector<LineNumber>> live_routes(const Plan& plan) {
  const std::size_t routers = plan.routers().size();
  const auto ways = shortest_ways(plan.lines(), routers);
  std::vector<std::vector<LineNumber>> routes(routers, std::vector<LineNumber>(plan.hosts().size(), kNoLine));
  for (std::size_t h = 0; h < plan.hosts().size(); ++h) {
    const LineNumber in = plan.hosts()[h].in;
    if (in == kNoLine || !plan.lines()[in].from.router) continue;
    const std::size_t last = plan.lines()[in].from.node;
    for (std::size_t r = 0; r < routers; ++r) routes[r][h] = r == last ? in : ways[r][last];
  }
  return routes;
}

std::string make_commands(const LiveLayout& l) {
  std::string out = fmt::format("netns add {}\nnetns add {}\n", l.wire_space, l.host_space);
  for (const auto& space : l.router_spaces) out += fmt::format("netns add {}\n", space);
  for (const auto& i : l.interfaces)
    out += fmt::format("link add {} netns {} type veth peer name {} netns {}\n", i.wire, l.wire_space, i.name,
                       i.space);
  return out;
}

std::string up_commands(const LiveLayout& l, const std::string& space) {
  std::string out = "link set lo up\n";
  for (const auto& i : l.interfaces) {
    if (space == l.wire_space) out += fmt::format("link set {} mtu {} up\n", i.wire, i.mtu);
    if (space == i.space)
      out += fmt::format("link set {} address {} mtu {} up\n", i.name, to_string(i.mac), i.mtu);
  }
  return out;
}

}  // namespace surety::lab
