// SPDX-License-Identifier: BSD-3-Clause
// The sets of next hops in use, each programmed once for any number of routes.
//
// A route holds a set of members (one, or several for ECMP); the set owns a block of consecutive ids in the
// sink. Changes of neighbours and links change the entries of the blocks and not the routes.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "router/pipeline/interfaces/interface_record.h"
#include "router/pipeline/routes/neighbors.h"
#include "router/pipeline/routes/prefix_table.h"
#include "router/pipeline/routes/route_events.h"

namespace surety {

// A next hop: a gateway on an interface, or the destination itself on its subnet.
struct NextHopMember {
  InterfaceIndex interface = 0;
  std::optional<IpAddress> gateway;
  std::uint16_t mtu = 0;  // MTU of the route; 0: the interface's
  // The interface of hosts (HostQueues) that the route is for; nullopt: of none.
  std::optional<InterfaceIndex> hosts{};
  friend auto operator<=>(const NextHopMember&, const NextHopMember&) = default;
};
// Sorted, 1 to RouteTarget::kMaxCount; each member occurs as often as its weight.
using NextHopMembers = std::vector<NextHopMember>;

class NextHopGroups {
 public:
  // `entry` returns the current entry of a member: no_route while its port is down, glean, unresolved, or on
  // to ready.
  using EntryOf = std::function<NextHopEntry(const NextHopMember&)>;
  NextHopGroups(RouteSink& sink, std::uint32_t capacity, EntryOf entry);

  // The block of the set, programmed into the sink; every acquire() requires a release(). nullopt: no ids are
  // left. A released block keeps its entries until its ids are reused: a worker in the midst of a burst may
  // still use one, and its packets then take the previous route; entries with waiting packets become
  // `unresolved`.
  std::optional<RouteTarget> acquire(const NextHopMembers& members);
  void release(const NextHopMembers& members);
  // Turns the block of one set into that of another of the same size, in place: all routes that use it change
  // in a few stores. false, and nothing has changed: the block is shared with others.
  bool change(const NextHopMembers& from, const NextHopMembers& to);

  // Called when the result of entry() has changed for this way, whatever the MTU and the hosts, or for all
  // members.
  void refresh(const NextHopMember& member);
  void refresh_all();

  // The current member behind an id.
  std::optional<NextHopMember> member(std::uint32_t id) const;
  bool uses(const NextHopMember& member) const {
    const auto at = uses_.lower_bound(member);
    return at != uses_.end() && same_way(at->first, member);
  }
  // Gateways in use without a known MAC, each once.
  std::vector<NextHopMember> unresolved() const;
  std::uint32_t ids_used() const { return ids_.used(); }

 private:
  struct Group {
    NextHopMembers members;
    std::vector<NextHopEntry> entries;  // entries in the sink; empty until first programmed
    std::uint32_t references = 0;
  };
  static bool same_way(const NextHopMember& a, const NextHopMember& b) {
    return a.interface == b.interface && a.gateway == b.gateway;
  }
  // The index of the member at each place of the block: places of unusable members are shared among the best
  // usable ones, so that no flow uses a dead gateway while another works.
  static std::vector<std::size_t> choose(const std::vector<NextHopEntry>& entries);
  void program(std::uint32_t first, Group& group);
  void retire(std::uint32_t first, const Group& group);
  void enter(const NextHopMembers& members, std::uint32_t first);
  void leave(const NextHopMembers& members, std::uint32_t first);

  RouteSink& sink_;
  EntryOf entry_;
  NextHopIds ids_;
  std::map<NextHopMembers, std::uint32_t> first_;          // id of each set's block
  std::map<std::uint32_t, Group> groups_;                  // indexed by first id
  std::map<NextHopMember, std::set<std::uint32_t>> uses_;  // groups a member is in
};

}  // namespace surety
