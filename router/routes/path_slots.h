// SPDX-License-Identifier: BSD-3-Clause
// Which slot belongs to a path and a domain: a hash table of fixed size.
//
// Slots are the owner's small numbers, 1 .. `slots`; 0: none. No allocation after construction.
#pragma once

#include <cstdint>
#include <vector>

#include "router/routes/paths.h"
#include "router/routes/prefix_table.h"

namespace surety {

class PathSlots {
 public:
  using Slot = std::uint16_t;
  explicit PathSlots(Slot slots);

  Slot find(const Path& path, std::uint16_t domain) const {
    Slot slot = first_[bucket(path)];
    while (slot != 0 && !(entries_[slot].domain == domain && entries_[slot].path == path))
      slot = entries_[slot].next;
    return slot;
  }

  // Neither the slot nor the path's domain may be in.
  void add(Slot slot, const Path& path, std::uint16_t domain);
  void remove(Slot slot);  // must be in

  // Of a slot that is in, or was: removed ones keep them until the next add().
  const Path& path(Slot slot) const { return entries_[slot].path; }
  std::uint16_t domain(Slot slot) const { return entries_[slot].domain; }

 private:
  struct Entry {
    Path path;
    std::uint16_t domain = 0;
    Slot next = 0;  // in the same bucket
  };
  std::size_t bucket(const Path& path) const { return hash_of(path) & (first_.size() - 1); }

  std::vector<Slot> first_;  // of each bucket: a power of two, at least twice as many as slots
  std::vector<Entry> entries_;
};

}  // namespace surety
