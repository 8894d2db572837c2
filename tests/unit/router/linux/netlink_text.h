// SPDX-License-Identifier: BSD-3-Clause
// Netlink events in one line each, so that a test's expectations read like the output of ip(8); and the way
// back for addresses.
#pragma once

#include <arpa/inet.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <variant>

#include "router/linux/netlink_message.h"

namespace surety {

inline config::Address address(const std::string& text) {
  config::Address a;
  a.v6 = text.find(':') != std::string::npos;
  if (inet_pton(a.v6 ? AF_INET6 : AF_INET, text.c_str(), a.bytes.data()) != 1)
    throw std::invalid_argument(text);
  return a;
}
inline config::Prefix prefix(const std::string& text) {
  const auto slash = text.find('/');
  return {address(text.substr(0, slash)), static_cast<std::uint8_t>(std::stoi(text.substr(slash + 1)))};
}

inline std::string text_of(const config::Address& a) {
  char out[INET6_ADDRSTRLEN];
  return inet_ntop(a.v6 ? AF_INET6 : AF_INET, a.bytes.data(), out, sizeof(out));
}
inline std::string text_of(const config::Prefix& p) {
  return text_of(p.address) + "/" + std::to_string(p.length);
}
inline std::string text_of(const config::Mac& m) {
  char out[18];
  const auto& b = m.bytes;
  std::snprintf(out, sizeof(out), "%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3], b[4], b[5]);
  return out;
}

inline std::string text_of(const RouteEvent& r) {
  std::string out = (r.action == EventAction::add ? "add " : "remove ") + text_of(r.to);
  if (r.blackhole) out += " blackhole";
  for (const auto& hop : r.next_hops)
    out += (hop.via ? " via " + text_of(*hop.via) : "") +
           (hop.ifindex != 0 ? " dev " + std::to_string(hop.ifindex) : "") +
           (hop.weight != 1 ? " weight " + std::to_string(hop.weight) : "");
  if (r.next_hop_id != 0) out += " nhid " + std::to_string(r.next_hop_id);
  if (r.metric != 0) out += " metric " + std::to_string(r.metric);
  if (r.protocol != 0) out += " proto " + std::to_string(r.protocol);
  return out;
}
inline std::string text_of(const NextHopEvent& n) {
  std::string out = (n.action == EventAction::add ? "add nhid " : "remove nhid ") + std::to_string(n.id);
  if (n.hop.via) out += " via " + text_of(*n.hop.via);
  if (n.hop.ifindex != 0) out += " dev " + std::to_string(n.hop.ifindex);
  for (const auto& m : n.group) out += " " + std::to_string(m.id) + "*" + std::to_string(m.weight);
  return out + (n.blackhole ? " blackhole" : "");
}
inline std::string text_of(const NeighborEvent& n) {
  const std::string what = text_of(n.address) + " dev " + std::to_string(n.ifindex);
  return n.action == EventAction::add ? "add " + what + " lladdr " + text_of(n.mac) : "remove " + what;
}
inline std::string text_of(const AddressEvent& a) {
  return (a.action == EventAction::add ? "add " : "remove ") + text_of(a.address) + " dev " +
         std::to_string(a.ifindex);
}
inline std::string text_of(const LinkEvent& l) {
  return std::to_string(l.ifindex) + ": " + l.name + (l.up ? " up" : " down") + " mtu " +
         std::to_string(l.mtu) + " " + text_of(l.mac);
}
inline std::string text_of(std::monostate) {
  return "nothing";
}
inline std::string text_of(const NetlinkEvent& event) {
  return std::visit([](const auto& e) { return text_of(e); }, event);
}

}  // namespace surety
