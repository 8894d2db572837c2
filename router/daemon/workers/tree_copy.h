// SPDX-License-Identifier: BSD-3-Clause
// Copies the numbers of the queues below a worker's ports without delaying packets: a few interfaces between
// two turns. Nothing is allocated or formatted.
//
// The numbers of different interfaces are therefore from different turns; those of one queue are consistent.
#pragma once

#include <memory>
#include <span>

#include "router/operate/observe/reading.h"
#include "router/pipeline/egress.h"
#include "router/pipeline/snapshot.h"

namespace surety {

// Sets the class's name, limit and thresholds in a row.
void name_after(QueueReading& row, const ClassParams& of);
// Sets the numbers of a queue; the row's names stay.
void fill_tree_row(QueueReading& row, const Hierarchy& h, InterfaceIndex interface, std::size_t class_index);
// Sets the names of the members' rows; on the reading thread.
void name_members(Reading& r, const Snapshot& snapshot);

class TreeCopy {
 public:
  static constexpr std::uint32_t kStep = 32;  // interfaces

  // Indexed by port; nullptr: another worker's, whose rows stay empty.
  explicit TreeCopy(std::span<const std::unique_ptr<Egress>> egresses) : egresses_(egresses) {}

  // Starts a copy into a reading of this snapshot (blank_reading()).
  void start(Reading& r);
  // Copies a few more interfaces. true: complete.
  bool step(Reading& r, const Snapshot& snapshot);

 private:
  void copy(Reading& r, const QueueTree& tree, const PortTree::Node& node, InterfaceIndex i);

  std::span<const std::unique_ptr<Egress>> egresses_;
  // Position of the copy: the definition's first row, and its next interface.
  std::size_t port_ = 0, node_ = 1, row_ = 0;
  std::uint32_t member_ = 0;
  QueueReading scratch_;
};

}  // namespace surety
