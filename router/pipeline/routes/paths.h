// SPDX-License-Identifier: BSD-3-Clause
// A path: the destination network of packets, not their next hop.
//
// A path is the prefix of an address's route; if that is wider than a /24, or a /48 of IPv6 (the narrowest in
// the Internet's routing table), the /24 or /48 of the address. A packet's path therefore follows from its
// destination and the `narrowness` of its route, which the FIB returns along with the next hop: the bits by
// which the route is longer than /24 or /48, else 0.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "config/address.h"
#include "router/pipeline/routes/prefix_table.h"
#include "router/pipeline/routes/route_events.h"

namespace surety {

using Path = Prefix;

inline constexpr std::uint8_t kWidePath4 = 24, kWidePath6 = 48;

// The target of a route, as stored in the FIB.
inline RouteTarget target_of(const Prefix& route, RouteTarget target) {
  const std::uint8_t wide = route.address.is_v6() ? kWidePath6 : kWidePath4;
  target.narrowness = route.length > wide ? static_cast<std::uint8_t>(route.length - wide) : std::uint8_t{0};
  return target;
}

// The path of an address whose route has this narrowness.
inline Path path_of(const IpAddress& destination, std::uint8_t narrowness) {
  const std::uint8_t wide = destination.is_v6() ? kWidePath6 : kWidePath4;
  return Path{destination, static_cast<std::uint8_t>(wide + narrowness)}.masked();
}

// Maps a path and a domain to a slot: a hash table of fixed size.
//
// Slots are the owner's small numbers, 1 .. `slots`; 0: none. No allocation after construction.
class PathSlots {
 public:
  using Slot = std::uint16_t;
  explicit PathSlots(Slot slots)
      : first_(std::bit_ceil(2 * std::size_t{slots} + 1)), entries_(std::size_t{slots} + 1) {}

  Slot find(const Path& path, std::uint16_t domain) const {
    Slot slot = first_[bucket(path)];
    while (slot != 0 && !(entries_[slot].domain == domain && entries_[slot].path == path))
      slot = entries_[slot].next;
    return slot;
  }

  // Adds a slot. Neither the slot nor the pair of path and domain may be in the table.
  void add(Slot slot, const Path& path, std::uint16_t domain) {
    Slot& first = first_[bucket(path)];
    entries_[slot] = {path, domain, first};
    first = slot;
  }
  // The slot must be in the table.
  void remove(Slot slot) {
    Slot* at = &first_[bucket(entries_[slot].path)];
    while (*at != slot) at = &entries_[*at].next;
    *at = entries_[slot].next;
  }

  // `slot` must be in the table, or removed and not added again.
  const Path& path(Slot slot) const { return entries_[slot].path; }
  std::uint16_t domain(Slot slot) const { return entries_[slot].domain; }

 private:
  struct Entry {
    Path path;
    std::uint16_t domain = 0;
    Slot next = 0;  // next slot in the same bucket
  };
  std::size_t bucket(const Path& path) const { return hash_of(path) & (first_.size() - 1); }

  std::vector<Slot> first_;  // first slot of each bucket: a power of two, at least twice as many as slots
  std::vector<Entry> entries_;
};

}  // namespace surety
