// SPDX-License-Identifier: BSD-3-Clause
// Where the parts of a scenario stand on this machine when it runs live: namespaces,
// interfaces, addresses of links.
//
// One namespace per router, one for all hosts (one process plays them, with one clock: its senders start
// together), and one for the wire, where every veth pair has its other end. Addresses, MACs, routes and ports
// are those of the lab's plan.
#pragma once

#include <string>
#include <vector>

#include "tests/lab/simulation/plan.h"

namespace surety::lab {

struct LiveInterface {
  NodePort at;              // of the node
  std::string space, name;  // namespace and name at the node; `name` is also that of an endpoint's port
  std::string wire;         // name of its other end, in the wire's namespace
  MacAddress mac{};
  std::uint16_t mtu = 1500;
};

struct LiveLayout {
  std::string prefix;  // of all names on this machine: `lablive-4711-`
  std::string wire_space, host_space;
  std::vector<std::string> router_spaces;
  std::vector<LiveInterface> interfaces;  // routers' ports that have a link, then hosts
  std::size_t interface_of(const NodePort& p) const;
};
LiveLayout live_layout(const Plan& plan, const std::string& prefix);

// The address of one end of a link, and the subnet that both ends share:
// 100.64.0.0/10 (RFC 6598), a /30 each.
inline constexpr std::uint8_t kLinkPrefix = 30;
inline constexpr std::size_t kMostLinks = 1 << 20;
IpAddress link_address(std::size_t link, bool end_b);
// The address of the end from which a line starts, or to which it goes.
IpAddress near_address(LineNumber line);
IpAddress far_address(LineNumber line);

// The line by which each router sends to each host: [router][host]; kNoLine: there is no way.
std::vector<std::vector<LineNumber>> live_routes(const Plan& plan);

// For `ip -batch`: the namespaces and the pairs of interfaces, and what follows inside one of the namespaces.
std::string make_commands(const LiveLayout& layout);
std::string up_commands(const LiveLayout& layout, const std::string& space);

}  // namespace surety::lab
