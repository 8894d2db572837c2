// SPDX-License-Identifier: BSD-3-Clause
// The sets of next hops that routes are given, each kept once, and what each means now.
//
// A million routes share a few hundred sets: so a route is a number here, and what a set means is found out
// once, not for each route. When it changes, its block of next hops is changed under the routes if it can be;
// else the caller must program them anew.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "router/routes/next_hop_groups.h"
#include "router/routes/next_hop_objects.h"
#include "router/routes/route_events.h"

namespace surety {

// A next hop as its source gives it: exactly one of interface and ifindex, or `via` alone.
struct RouteHop {
  std::optional<IpAddress> via{};  // none: on link
  std::optional<InterfaceIndex> interface {};
  int ifindex = 0;
  std::uint16_t weight = 1;
};

class HopSets {
 public:
  using Id = std::uint32_t;
  static constexpr Id kNone = 0;

  // What a route says of where it leads: one of these.
  struct Key {
    std::uint32_t special = kNextHopNone;  // one of the fixed
    std::uint32_t object = 0;              // a next hop object of the kernel
    std::vector<RouteHop> hops{};
  };
  // What a hop means now. Neither: its gateway is on no connected subnet.
  struct Resolved {
    std::optional<NextHopMember> member{};
    bool foreign = false;  // out of an interface that is not a port
  };
  using Resolve = std::function<Resolved(const RouteHop&)>;

  HopSets(NextHopGroups& groups, Resolve resolve);

  // A set lives while it is held or used; each hold() asks for a drop(), each use() for an unuse().
  Id hold(Key key);
  void drop(Id id);
  // What the routes' entries in the FIB are to be; ids for next hops are taken with the first
  // use. None: no ids are left.
  std::optional<RouteTarget> use(Id id);
  void unuse(Id id);

  const Key& key(Id id) const { return sets_[id].key; }
  bool active(Id id) const { return sets_[id].active(); }    // leads anywhere
  bool on_link(Id id) const { return sets_[id].on_link(); }  // straight to the destination, among others
  bool dead(Id id) const { return sets_[id].dead; }  // its object is gone: the kernel has removed its routes
  bool has(Id id, const NextHopMember& member) const;
  const NextHopMembers& members(Id id) const { return sets_[id].members; }  // what it means now, or ...
  std::uint32_t special(Id id) const { return sets_[id].special; }          // ... one of the fixed
  std::optional<RouteTarget> target(Id id) const;  // of one in use; none: it has lost its ids

  // What `resolve` says, or an object, has changed. true: there are routes to be programmed anew; the ids
  // they have in the FIB until then stay taken until release_retired().
  bool refresh_all();
  bool set_object(const NextHopEvent& event, std::uint32_t generation);
  bool remove_object(std::uint32_t id);
  void release_retired();

  const NextHopObjects& objects() const { return objects_; }

 private:
  struct Set {
    Key key;
    std::uint32_t special = kNextHopNone;
    NextHopMembers members;
    std::optional<RouteTarget> target;  // of the block, while there is one
    NextHopMembers block;               // what the block is known by
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
  bool change_block(Set& set);
  void take_block(Set& set);
  void forget(Id id);

  NextHopGroups& groups_;
  Resolve resolve_;
  NextHopObjects objects_;
  std::map<Key, Id, KeyLess> ids_;
  std::deque<Set> sets_;  // by id; the first is nobody's
  std::vector<Id> free_;
  std::vector<NextHopMembers> retired_;  // blocks that routes in the FIB may still name
};

}  // namespace surety
