// SPDX-License-Identifier: BSD-3-Clause
// Maps a path and a domain to a slot: a hash table of fixed size.
//
// Slots are the owner's small numbers, 1 .. `slots`; 0: none. No allocation after construction.
#pragma once

#include <cstdint>
#include <vector>

#include "router/pipeline/routes/paths.h"
#include "router/pipeline/routes/prefix_table.h"

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

  // Adds a slot. Neither the slot nor the pair of path and domain may be in the table.
  void add(Slot slot, const Path& path, std::uint16_t domain);
  void remove(Slot slot);  // must be in the table

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
