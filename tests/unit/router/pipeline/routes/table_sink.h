// SPDX-License-Identifier: BSD-3-Clause
// A data plane that only remembers what is programmed, and says it in words:
// "10.2.0.0/16 ready 1 02:00:00:00:00:05".
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/address.h"
#include "router/pipeline/routes/neighbors.h"
#include "router/pipeline/routes/prefix_table.h"
#include "router/pipeline/routes/route_events.h"

namespace surety {

inline Prefix prefix(const std::string& text) {
  return parse_prefix(text).value();
}
inline IpAddress address(const std::string& text) {
  return parse_address(text).value();
}
inline MacAddress mac(std::uint8_t last) {
  return {{2, 0, 0, 0, 0, last}};
}

// The port, or the interface on it: "1", "1/5".
inline std::string way(const NextHopEntry& e) {
  return std::to_string(e.port) + (e.interface > e.port ? "/" + std::to_string(e.interface) : "");
}
inline std::string describe(const NextHopEntry& e) {
  using State = NextHopEntry::State;
  switch (e.state) {
    case State::no_route:
      return "none";
    case State::blackhole:
      return "blackhole";
    case State::unreachable:
      return "unreachable";
    case State::prohibited:
      return "prohibited";
    case State::unsupported:
      return "unsupported";
    case State::local:
      return "local";
    case State::glean:
      return "glean " + way(e);
    case State::unresolved:
      return "unresolved " + way(e);
    case State::waiting:
      return "waiting " + way(e) + " " + to_string(e.destination);
    case State::opening:
      return "opening " + way(e) + " " + to_string(e.destination);
    case State::ready:
      return "ready " + way(e) + " " + to_string(e.destination) +
             (e.mtu != 0 ? " mtu " + std::to_string(e.mtu) : "");
  }
  return "?";
}

class TableSink : public RouteSink {
 public:
  bool set_route(const Prefix& p, RouteTarget target) override {
    ++route_changes;
    if (!routes.contains(p) && routes.size() == room) return false;
    if (refuses && p.length > refuses->length && refuses->contains(p.address)) return false;
    routes[p] = target;
    return true;
  }
  void remove_route(const Prefix& p) override {
    ++route_changes;
    routes.erase(p);
  }
  void set_next_hop(std::uint32_t id, const NextHopEntry& entry) override { table.set(id, entry); }

  std::string words(RouteTarget target) const {
    std::string text = describe(table.get(target.first));
    for (std::uint32_t i = 1; i < target.count; ++i) text += " | " + describe(table.get(target.first + i));
    return text;
  }
  std::vector<std::string> all() const {
    std::vector<std::string> lines;
    for (const auto& [p, target] : routes) lines.push_back(to_string(p) + " " + words(target));
    return lines;
  }
  // What happens to packets for `a`: the longest prefix's words, or "none".
  std::string forward(const IpAddress& a) const {
    for (int length = a.bits(); length >= 0; --length) {
      const auto it = routes.find(Prefix{a, static_cast<std::uint8_t>(length)}.masked());
      if (it != routes.end()) return words(it->second);
    }
    return "none";
  }

  std::map<Prefix, RouteTarget> routes;
  NextHopTable table{4096};
  std::size_t room = SIZE_MAX;
  std::optional<Prefix> refuses{};  // no room for what is longer
  int route_changes = 0;
};

}  // namespace surety
