// SPDX-License-Identifier: BSD-3-Clause
// A reload below a port, in slices: interfaces and groups that come, change and go.
//
// Any thread prepares it; the worker applies so many changes in each of its turns, each in constant time and
// without the heap, while packets come and go. Other interfaces are not touched: no walk, no lost place, no
// lost token. Order: groups that come or change, then interfaces, then groups that go, so that an interface
// finds its new group and leaves the old one before it is gone.
//
// Parameters belong to the thread that prepares; the old ones are needed until apply() returned false, those
// of removed interfaces until take_removed() had their packets.
#pragma once

#include <cstdint>
#include <vector>

#include "aqm/hierarchy/hierarchy.h"

namespace surety {

class HierarchyUpdate {
 public:
  void set_group(Hierarchy::Group group, const GroupParams& params) { groups_.push_back({group, &params}); }
  void remove_group(Hierarchy::Group group) { gone_.push_back(group); }
  // New, or changed with the same classes (InterfaceParams::same_classes()).
  void set(Hierarchy::Interface interface, Hierarchy::Group parent, const InterfaceParams& params,
           std::uint64_t seed) {
    interfaces_.push_back({interface, parent, &params, seed});
  }
  void remove(Hierarchy::Interface interface) {
    interfaces_.push_back({interface, Hierarchy::kPort, nullptr, 0});
  }

  // At most `budget` changes; whether there are more.
  bool apply(Hierarchy& hierarchy, std::uint32_t budget, Time now);
  // Interfaces and groups for which there was no room.
  std::uint32_t refused() const { return refused_; }

 private:
  struct GroupChange {
    Hierarchy::Group group;
    const GroupParams* params;
  };
  struct InterfaceChange {
    Hierarchy::Interface interface;
    Hierarchy::Group parent;
    const InterfaceParams* params;  // null: it goes
    std::uint64_t seed;
  };
  void apply(Hierarchy& hierarchy, const GroupChange& change, Time now);
  void apply(Hierarchy& hierarchy, const InterfaceChange& change, Time now);

  std::vector<GroupChange> groups_;
  std::vector<InterfaceChange> interfaces_;
  std::vector<Hierarchy::Group> gone_;
  std::size_t done_ = 0;  // changes done of all, in their order
  std::uint32_t refused_ = 0;
};

}  // namespace surety
