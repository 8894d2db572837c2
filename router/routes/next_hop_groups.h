// SPDX-License-Identifier: BSD-3-Clause
// Which next hops the routes use, each set of them programmed once, however many routes share it.
//
// Routes hold on to a set of members (one, or several for ECMP); the set owns a block of
// consecutive ids in the sink. Neighbours and links that come and go change the entries of the
// blocks and leave the routes alone.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "router/interfaces/interface_record.h"
#include "router/routes/neighbors.h"
#include "router/routes/prefixes.h"
#include "router/routes/route_events.h"

namespace surety {

// A way out: through a gateway on an interface, or straight to the destination on its subnet.
struct NextHopMember {
  InterfaceIndex interface = 0;
  std::optional<IpAddress> gateway;
  friend auto operator<=>(const NextHopMember&, const NextHopMember&) = default;
};
// Sorted, 1 to RouteTarget::kMaxCount; a member stands in it as often as its weight says.
using NextHopMembers = std::vector<NextHopMember>;

class NextHopGroups {
 public:
  // `entry` says what a member is now: no_route while its port is down, glean, unresolved, or on to ready.
  using EntryOf = std::function<NextHopEntry(const NextHopMember&)>;
  NextHopGroups(RouteSink& sink, std::uint32_t capacity, EntryOf entry);

  // The block of the set, programmed into the sink; every acquire() asks for a release(). None: no ids are
  // left. A released block keeps its entries until its ids are used again: a worker in the midst of a burst
  // may still hold one, and its packets then go where they would have gone a moment before; those for which
  // packets wait become `unresolved`.
  std::optional<RouteTarget> acquire(const NextHopMembers& members);
  void release(const NextHopMembers& members);
  // Makes the block of one set that of another of the same size, under the routes that use it: all of
  // them lead elsewhere in a few stores, however many they are. false, and nothing has changed:
  // others have a part in it.
  bool change(const NextHopMembers& from, const NextHopMembers& to);

  // What entry() says of this member, or of all members, has changed.
  void refresh(const NextHopMember& member);
  void refresh_all();

  // The member that stands behind an id now.
  std::optional<NextHopMember> member(std::uint32_t id) const;
  bool uses(const NextHopMember& member) const { return uses_.contains(member); }
  // Gateways in use whose MAC is not known.
  std::vector<NextHopMember> unresolved() const;
  std::uint32_t ids_used() const { return ids_.used(); }

 private:
  struct Group {
    NextHopMembers members;
    std::vector<NextHopEntry> entries;  // as they stand in the sink; empty before the first time
    std::uint32_t references = 0;
  };
  // For each place of the block, the member it leads to: places of members that are not usable are shared out
  // among the best there are, so that a flow does not meet a dead gateway while another lives.
  static std::vector<std::size_t> choose(const std::vector<NextHopEntry>& entries);
  void program(std::uint32_t first, Group& group);
  void retire(std::uint32_t first, const Group& group);
  void enter(const NextHopMembers& members, std::uint32_t first);
  void leave(const NextHopMembers& members, std::uint32_t first);

  RouteSink& sink_;
  EntryOf entry_;
  NextHopIds ids_;
  std::map<NextHopMembers, std::uint32_t> first_;          // of each set
  std::map<std::uint32_t, Group> groups_;                  // by first id
  std::map<NextHopMember, std::set<std::uint32_t>> uses_;  // groups a member is in
};

}  // namespace surety
