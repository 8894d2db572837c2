// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/route_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

namespace surety {
namespace {

// Names in the order of the enumerations.

std::string_view name(RouteSource s) {
  constexpr std::array<std::string_view, 6> kNames{"kernel", "neighbor", "connected",
                                                   "yaml",   "kernel",   "subscriber"};
  return kNames[static_cast<std::size_t>(s)];
}

std::string_view name(RouteState s) {
  constexpr std::array<std::string_view, 4> kNames{"active", "standby", "unusable", "no_room"};
  return kNames[static_cast<std::size_t>(s)];
}

std::string_view name(Routes::NeighborSource s) {
  constexpr std::array<std::string_view, 3> kNames{"yaml", "kernel", "learned"};
  return kNames[static_cast<std::size_t>(s)];
}

std::string_view name(NeighborRow::State s) {
  constexpr std::array<std::string_view, 3> kNames{"known", "asked", "unreachable"};
  return kNames[static_cast<std::size_t>(s)];
}

// The kind of a route without next hops, as ip(8) names it.
std::string special_name(const RouteWay& way) {
  switch (way.special) {
    case kNextHopUnsupported:
      return fmt::format("unsupported ({})", name(way.unsupported));
    case kNextHopThrown:
      return "throw";
    case kNextHopBlackhole:
      return "blackhole";
    case kNextHopUnreachable:
      return "unreachable";
    case kNextHopProhibited:
      return "prohibited";
    case kNextHopLocal:
    case kNextHopLocalPrefix:
      return "local";
    case kNextHopForeign:
      return "kernel";
    default:
      return "-";
  }
}

struct WayText {
  std::string via, interface;
  bool known = false;  // one of its gateways at least
};

WayText text_of(const RouteWay& way, const InterfaceName& name_of) {
  if (way.hops.empty()) return {special_name(way), "", true};
  WayText text;
  for (const RouteWay::Hop& hop : way.hops) {
    const char* const comma = &hop == way.hops.data() ? "" : ", ";
    const std::string via = hop.member.gateway ? to_string(*hop.member.gateway) : "on link";
    text.via += comma + via + (hop.weight > 1 ? fmt::format(" x{}", hop.weight) : "");
    text.interface += comma + name_of(hop.member.interface);
    text.known |= hop.known;
  }
  if (way.mtu != 0) text.via += fmt::format(" mtu {}", way.mtu);
  return text;
}

// Sort key: family, address, length.
auto key_of(const Prefix& p) {
  return std::tuple(p.address.is_v6(), p.address.high, p.address.low, p.length);
}

}  // namespace

Json route_rows(const RouteCopy& copy, const InterfaceName& name_of) {
  std::vector<WayText> ways;
  for (const RouteWay& way : copy.ways()) ways.push_back(text_of(way, name_of));
  std::vector<std::uint32_t> order(copy.rows().size());
  std::iota(order.begin(), order.end(), 0U);
  // Candidates of one prefix come best first.
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return key_of(copy.rows()[i].prefix); });
  Json rows = Json::array();
  for (const std::uint32_t i : order) {
    const RouteCopy::Row& r = copy.rows()[i];
    const WayText& way = ways[r.way];
    const bool silent = r.state == RouteState::active && !way.known;
    // Member by member: a list of pairs, copied twice, would take most of the time of a full table.
    Json& row = rows.emplace_back(Json::object());
    row["prefix"] = to_string(r.prefix);
    row["next_hop"] = way.via;
    row["interface"] = way.interface;
    row["source"] = name(r.connected ? RouteSource::connected : r.source);
    row["metric"] = r.metric;
    row["state"] = silent ? "unresolved" : name(r.state);
  }
  return rows;
}

Json neighbor_rows(std::vector<NeighborRow> rows, const InterfaceName& name_of) {
  std::ranges::sort(rows, {}, [](const NeighborRow& n) {
    return std::tuple(n.address.is_v6(), n.address.high, n.address.low, n.interface);
  });
  Json all = Json::array();
  for (const NeighborRow& n : rows) {
    Json row = {{"address", to_string(n.address)}};
    if (n.mac) row["mac"] = to_string(*n.mac);
    row["interface"] = name_of(n.interface);
    if (n.source) row["source"] = name(*n.source);
    row["state"] = name(n.state);
    if (n.age) row["age_seconds"] = seconds(*n.age);
    all.push_back(std::move(row));
  }
  return all;
}

}  // namespace surety
