// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/paths.h"

#include <bit>

namespace surety {

PathSlots::PathSlots(Slot slots)
    : first_(std::bit_ceil(2 * std::size_t{slots} + 1)), entries_(std::size_t{slots} + 1) {}

void PathSlots::add(Slot slot, const Path& path, std::uint16_t domain) {
  Slot& first = first_[bucket(path)];
  entries_[slot] = {path, domain, first};
  first = slot;
}

void PathSlots::remove(Slot slot) {
  Slot* at = &first_[bucket(entries_[slot].path)];
  while (*at != slot) at = &entries_[*at].next;
  *at = entries_[slot].next;
}

}  // namespace surety
