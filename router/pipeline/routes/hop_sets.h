// SPDX-License-Identifier: BSD-3-Clause
// The sets of next hops of routes, each kept once, with its current meaning.
//
// A million routes share a few hundred sets: a route has a set's number, and each set is resolved once. When
// its meaning changes, its block of next hops is changed in place if possible; else the caller must program
// its routes again.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "router/pipeline/routes/next_hop_groups.h"
#include "router/pipeline/routes/route_events.h"

namespace surety {

// The kernel's next hop objects by id: next hops that routes refer to instead of having their own.
class NextHopObjects {
 public:
  // The resolved content of an object, with groups expanded.
  struct Meaning {
    bool blackhole = false;
    std::vector<RouteNextHop> hops;  // with their weights in a group
    Unsupported unsupported = Unsupported::none;
  };

  // `generation`: see stale().
  void set(const NextHopEvent& event, std::uint32_t generation);
  void remove(std::uint32_t id) { objects_.erase(id); }

  bool knows(std::uint32_t id) const { return objects_.contains(id); }
  // Empty for unknown ids; unknown members of a group are left out.
  Meaning meaning(std::uint32_t id) const;
  // The object itself and the groups it is in.
  std::vector<std::uint32_t> affected(std::uint32_t id) const;
  // The objects last set in another generation.
  std::vector<std::uint32_t> stale(std::uint32_t generation) const;

 private:
  struct Object {
    NextHopEvent what;
    std::uint32_t generation = 0;
  };
  std::map<std::uint32_t, Object> objects_;
};

// Next hops and their weights as places of a block: a flow's hash picks a place, each as often as any other.
struct WeightedMember {
  NextHopMember member;
  std::uint32_t weight = 1;  // at least 1
};

// Sorted; a member's number of places is its share of the weights, rounded to RouteTarget::kMaxCount places
// in all, and at least one. A member given twice counts once. Beyond kMaxCount members the last are left out.
NextHopMembers places_of(std::vector<WeightedMember> members);

// A next hop as configured by its source: exactly one of interface and ifindex, or `via` alone.
struct RouteHop {
  std::optional<IpAddress> via{};  // nullopt: on link
  std::optional<InterfaceIndex> interface {};
  int ifindex = 0;
  std::uint16_t weight = 1;
};

class HopSets {
 public:
  using Id = std::uint32_t;
  static constexpr Id kNone = 0;

  // The destination of a route: one of these.
  struct Key {
    std::uint32_t special = kNextHopNone;  // a fixed next hop
    std::uint32_t object = 0;              // a next hop object of the kernel
    std::vector<RouteHop> hops{};
    // The packets of such a route are dropped, unless all its next hops are on interfaces that are no ports:
    // the kernel then forwards them.
    Unsupported unsupported = Unsupported::none;
    std::uint16_t mtu = 0;   // MTU of the next hops; 0: their interfaces'
    bool dead_hops = false;  // the kernel uses none of the hops now (RouteEvent::dead)
    Prefix from{};           // source prefix that the route is for, if it is `unsupported`; length 0: none
    std::optional<InterfaceIndex> hosts{};  // NextHopMember::hosts of the members
  };
  // The current meaning of a hop. Neither: its gateway is on no connected subnet.
  struct Resolved {
    std::optional<NextHopMember> member{};
    bool foreign = false;  // through an interface that is not a port
    bool up = true;        // the member's port and interface are up
  };
  using Resolve = std::function<Resolved(const RouteHop&)>;

  HopSets(NextHopGroups& groups, Resolve resolve);

  // A set exists while it is held or used; each hold() requires a drop(), each use() an unuse().
  Id hold(Key key);
  void drop(Id id);
  // The value of the routes' FIB entries; the first use() allocates next hop ids. nullopt: no ids are left.
  std::optional<RouteTarget> use(Id id);
  void unuse(Id id);

  const Key& key(Id id) const { return sets_[id].key; }
  // hold() for a set that differs in nothing but the hosts.
  Id hold_for_hosts(Id id, InterfaceIndex hosts);
  // True if the sets differ in nothing but the hosts, and those of `id` are these.
  bool is_for_hosts(Id id, Id other, std::optional<InterfaceIndex> hosts) const;
  bool active(Id id) const { return sets_[id].active(); }    // leads anywhere
  bool is_up(Id id) const;                                   // some hop's port is up, or there is no hop
  bool on_link(Id id) const { return sets_[id].on_link(); }  // some hop leads straight to the destination
  bool dead(Id id) const { return sets_[id].dead; }          // object and routes were removed
  bool has(Id id, InterfaceIndex on_link) const;  // some hop leads straight to destinations on the interface
  const NextHopMembers& members(Id id) const { return sets_[id].members; }  // current members, or ...
  std::uint32_t special(Id id) const { return sets_[id].special; }          // ... a fixed next hop
  Unsupported unsupported(Id id) const { return sets_[id].unsupported; }    // reason of kNextHopUnsupported
  std::optional<RouteTarget> target(Id id) const;  // value of a set in use; nullopt: it has lost its ids

  // Called when results of `resolve`, or an object, have changed. true: routes must be programmed again;
  // their ids in the FIB stay allocated until release_retired().
  bool refresh_all();
  bool set_object(const NextHopEvent& event, std::uint32_t generation);
  bool remove_object(std::uint32_t id);
  void release_retired();
  // True: since the last call such a change was one of on-link members, perhaps in place.
  bool take_on_link_changed() { return std::exchange(on_link_changed_, false); }

  const NextHopObjects& objects() const { return objects_; }

 private:
  struct Set {
    Key key;
    std::uint32_t special = kNextHopNone;
    Unsupported unsupported = Unsupported::none;
    NextHopMembers members;
    std::optional<RouteTarget> target;  // value of the block, while there is one
    NextHopMembers block;               // key of the block
    std::uint32_t held = 0, used = 0;
    bool dead = false;
    bool active() const { return special != kNextHopNone || !members.empty(); }
    bool on_link() const;
  };
  struct KeyLess {
    bool operator()(const Key& a, const Key& b) const;
  };
  void resolve(Set& set) const;
  bool refresh(Set& set);
  bool refresh_object(std::uint32_t id);
  std::vector<Id> sets_of_object(std::uint32_t id) const;
  bool change_block(Set& set);
  void take_block(Set& set);
  void forget(Id id);

  NextHopGroups& groups_;
  Resolve resolve_;
  NextHopObjects objects_;
  std::map<Key, Id, KeyLess> ids_;
  std::deque<Set> sets_;  // indexed by id; the first is unused
  std::vector<Id> free_;
  bool on_link_changed_ = false;
  std::vector<NextHopMembers> retired_;  // blocks that routes in the FIB may still refer to
};

}  // namespace surety
