// SPDX-License-Identifier: BSD-3-Clause
// The neighbours' host routes in the sink, by interface and family; selects one to withdraw when room is
// needed.
//
// A neighbour without a host route is reached by the route of its subnet, which is slower. Host routes may
// therefore use all free room; a route without room takes that of a host route while host routes have more
// than 1/kPart of the family's room. Among host routes the interface with the most yields to others.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "router/pipeline/interfaces/interface_record.h"
#include "router/pipeline/routes/prefix_table.h"

namespace surety {

class NeighborRoutes {
 public:
  static constexpr std::size_t kPart = 4;

  void add(const IpAddress& station, InterfaceIndex interface) {
    Family& f = families_[station.is_v6()];
    if (!f.interfaces.emplace(station, interface).second) return;
    change(f, interface, [&](auto& of) { of.insert(station); });
  }
  void remove(const IpAddress& station) {
    Family& f = families_[station.is_v6()];
    const auto at = f.interfaces.find(station);
    if (at == f.interfaces.end()) return;
    change(f, at->second, [&](auto& of) { of.erase(station); });
    f.interfaces.erase(at);
  }
  std::size_t size(bool v6) const { return families_[v6].interfaces.size(); }
  // A host route that yields to a route; `programmed`: routes of the family in the sink.
  std::optional<IpAddress> for_route(bool v6, std::size_t programmed) const {
    return size(v6) * kPart > programmed ? of_largest(v6, 0) : std::nullopt;
  }
  // A host route that yields to another one, of this interface.
  std::optional<IpAddress> for_station(bool v6, InterfaceIndex interface) const {
    const auto at = families_[v6].stations.find(interface);
    return of_largest(v6, at == families_[v6].stations.end() ? 1 : at->second.size() + 1);
  }

 private:
  struct Family {
    std::map<IpAddress, InterfaceIndex> interfaces;
    std::map<InterfaceIndex, std::set<IpAddress>> stations;
    std::set<std::pair<std::size_t, InterfaceIndex>> by_size;
  };
  template <class F>
  static void change(Family& f, InterfaceIndex interface, F&& how) {
    auto& of = f.stations[interface];
    f.by_size.erase({of.size(), interface});
    how(of);
    if (of.empty())
      f.stations.erase(interface);
    else
      f.by_size.emplace(of.size(), interface);
  }
  // Returns a host route of the interface with the most, if that has more than `than`.
  std::optional<IpAddress> of_largest(bool v6, std::size_t than) const {
    const Family& f = families_[v6];
    if (f.by_size.empty() || f.by_size.rbegin()->first <= than) return {};
    return *f.stations.at(f.by_size.rbegin()->second).rbegin();
  }

  Family families_[2];
};

}  // namespace surety
