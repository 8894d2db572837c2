// SPDX-License-Identifier: BSD-3-Clause
// Netlink events in one line each, so that a test's expectations read like the output of ip(8);
// and the way back for addresses.
#pragma once

#include <string>
#include <variant>

#include "router/daemon/linux/netlink_message.h"

namespace surety {

inline IpAddress address(const std::string& text) {
  return parse_address(text).value();
}
inline Prefix prefix(const std::string& text) {
  return parse_prefix(text).value();
}

inline std::string text_of(const RouteEvent& r) {
  std::string out = (r.action == EventAction::add ? "add " : "remove ") + to_string(r.to);
  constexpr const char* kRefusals[] = {"?", " blackhole", "?",      " unreachable", " prohibited",
                                       "?", "",           " throw", " local"};
  if (r.blackhole) out += kRefusals[r.refusal];
  if (r.unsupported != Unsupported::none) out += " unsupported " + std::string(name(r.unsupported));
  for (const auto& hop : r.next_hops)
    out += (hop.via ? " via " + to_string(*hop.via) : "") +
           (hop.ifindex != 0 ? " dev " + std::to_string(hop.ifindex) : "") +
           (hop.weight != 1 ? " weight " + std::to_string(hop.weight) : "");
  if (r.next_hop_id != 0) out += " nhid " + std::to_string(r.next_hop_id);
  if (r.metric != 0) out += " metric " + std::to_string(r.metric);
  if (r.mtu != 0) out += " mtu " + std::to_string(r.mtu);
  if (r.dead) out += " dead";
  if (r.local_table) out += " table local";
  if (r.protocol != 0) out += " proto " + std::to_string(r.protocol);
  return out;
}
inline std::string text_of(const NextHopEvent& n) {
  std::string out = (n.action == EventAction::add ? "add nhid " : "remove nhid ") + std::to_string(n.id);
  if (n.hop.via) out += " via " + to_string(*n.hop.via);
  if (n.hop.ifindex != 0) out += " dev " + std::to_string(n.hop.ifindex);
  for (const auto& m : n.group) out += " " + std::to_string(m.id) + "*" + std::to_string(m.weight);
  if (n.unsupported != Unsupported::none) out += " unsupported " + std::string(name(n.unsupported));
  return out + (n.blackhole ? " blackhole" : "");
}
inline std::string text_of(const NeighborEvent& n) {
  const std::string what = to_string(n.address) + " dev " + std::to_string(n.ifindex);
  const std::string fixed = n.fixed ? " fixed" : "";
  if (n.action == EventAction::remove) return "remove " + what + fixed;
  return "add " + what + " lladdr " + to_string(n.mac) + fixed;
}
inline std::string text_of(const AddressEvent& a) {
  return (a.action == EventAction::add ? "add " : "remove ") + to_string(a.address) + " dev " +
         std::to_string(a.ifindex) + (a.peer ? " peer " + to_string(*a.peer) : "") +
         (a.no_prefix_route ? " noprefixroute" : "");
}
inline std::string text_of(const LinkEvent& l) {
  return std::to_string(l.ifindex) + ": " + l.name + (l.up ? " up" : " down") + " mtu " +
         std::to_string(l.mtu) + " " + to_string(l.mac);
}
inline std::string text_of(const RuleEvent& r) {
  return (r.action == EventAction::add ? "add rule " : "remove rule ") + r.text +
         (r.followed ? " followed" : "");
}
inline std::string text_of(std::monostate) {
  return "nothing";
}
inline std::string text_of(const NetlinkEvent& event) {
  return std::visit([](const auto& e) { return text_of(e); }, event);
}

}  // namespace surety
