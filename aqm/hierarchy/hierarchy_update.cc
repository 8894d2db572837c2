// SPDX-License-Identifier: BSD-3-Clause
#include "aqm/hierarchy/hierarchy_update.h"

namespace surety {

bool HierarchyUpdate::apply(Hierarchy& hierarchy, std::uint32_t budget, Time now) {
  const std::size_t interfaces = groups_.size(), gone = interfaces + interfaces_.size();
  const std::size_t all = gone + gone_.size();
  for (; done_ < all && budget > 0; ++done_, --budget) {
    if (done_ < interfaces)
      apply(hierarchy, groups_[done_], now);
    else if (done_ < gone)
      apply(hierarchy, interfaces_[done_ - interfaces], now);
    else if (hierarchy.has_group(gone_[done_ - gone]))
      hierarchy.remove_group(gone_[done_ - gone]);
  }
  return done_ < all;
}

void HierarchyUpdate::apply(Hierarchy& hierarchy, const GroupChange& change, Time now) {
  if (hierarchy.has_group(change.group))
    hierarchy.change_group(change.group, *change.params, now);
  else
    refused_ += !hierarchy.add_group(change.group, *change.params, now);
}

// Skips interfaces that could not be added, and those whose group could not.
void HierarchyUpdate::apply(Hierarchy& hierarchy, const InterfaceChange& change, Time now) {
  const bool there = hierarchy.has(change.interface);
  if (change.params == nullptr) {
    if (there) hierarchy.remove(change.interface);
  } else if (change.parent != Hierarchy::kPort && !hierarchy.has_group(change.parent)) {
    ++refused_;
  } else if (there) {
    hierarchy.change(change.interface, change.parent, *change.params, now, change.seed);
  } else {
    refused_ += !hierarchy.add(change.interface, change.parent, *change.params, now, change.seed);
  }
}

}  // namespace surety
