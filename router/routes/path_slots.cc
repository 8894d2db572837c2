// SPDX-License-Identifier: BSD-3-Clause
#include "router/routes/path_slots.h"

#include <algorithm>

namespace surety {

PathSlots::Slot PathSlots::stranger(RouteTarget path) const {
  for (std::uint32_t id = path.first; id < path.first + path.count; ++id)
    if (const Slot slot = first_[id]; slot != 0 && entries_[slot].path.encode() != path.encode()) return slot;
  return 0;
}

void PathSlots::add(Slot slot, RouteTarget path, std::uint16_t domain) {
  entries_[slot] = {path, domain, first_[path.first]};
  set_first(path, slot);
}

void PathSlots::remove(Slot slot) {
  const Entry& gone = entries_[slot];
  Slot at = first_[gone.path.first];
  if (at == slot) return set_first(gone.path, gone.next);
  while (entries_[at].next != slot) at = entries_[at].next;
  entries_[at].next = gone.next;
}

void PathSlots::set_first(RouteTarget path, Slot slot) {
  std::fill_n(first_.begin() + path.first, path.count, slot);
}

}  // namespace surety
