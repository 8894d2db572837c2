// SPDX-License-Identifier: BSD-3-Clause
// Which slot belongs to a path and a domain, found by the next hop that a packet takes: O(1) per packet.
//
// A path is a route's block of next hops (RouteTarget): whichever of them a packet takes, it finds the same
// slots. Slots are the owner's small numbers, 1 .. `slots`; 0: none. No allocation after construction.
#pragma once

#include <cstdint>
#include <vector>

#include "router/routes/route_events.h"

namespace surety {

class PathSlots {
 public:
  using Slot = std::uint16_t;
  // `next_hops`: ids are below it.
  PathSlots(std::uint32_t next_hops, Slot slots) : first_(next_hops), entries_(std::size_t{slots} + 1) {}

  Slot find(std::uint32_t next_hop, std::uint16_t domain) const {
    Slot slot = first_[next_hop];
    while (slot != 0 && entries_[slot].domain != domain) slot = entries_[slot].next;
    return slot;
  }

  // A slot of another path that had one of these ids before, when its routes were others; 0: none. The owner
  // takes them out before it adds to this path.
  Slot stranger(RouteTarget path) const;
  // Neither the slot nor the path's domain may be in.
  void add(Slot slot, RouteTarget path, std::uint16_t domain);
  void remove(Slot slot);  // must be in

  RouteTarget path(Slot slot) const { return entries_[slot].path; }
  std::uint16_t domain(Slot slot) const {
    return entries_[slot].domain;
  }  // removed ones keep it until the next add()

 private:
  struct Entry {
    RouteTarget path;
    std::uint16_t domain = 0;
    Slot next = 0;  // of the same path, which has one for each domain of its ports: few
  };
  void set_first(RouteTarget path, Slot slot);

  std::vector<Slot> first_;  // by next hop id
  std::vector<Entry> entries_;
};

}  // namespace surety
