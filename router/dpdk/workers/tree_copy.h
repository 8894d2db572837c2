// SPDX-License-Identifier: BSD-3-Clause
// The numbers of the queues below a worker's ports, copied without being felt: some interfaces between two
// turns. Nothing is allocated or formatted.
//
// So what the interfaces' queues count is of the last turns and not of one moment; each queue's numbers are.
#pragma once

#include <memory>
#include <span>

#include "router/egress.h"
#include "router/observe/reading.h"
#include "router/snapshot.h"

namespace surety {

// Gives a row the class's name, limit and thresholds.
void name_after(QueueReading& row, const ClassParams& of);
// The numbers of a queue; the row's names stay.
void fill_tree_row(QueueReading& row, const Hierarchy& h, InterfaceIndex interface, std::size_t class_index);
// The names of the members' rows, for who reads them.
void name_members(Reading& r, const Snapshot& snapshot);

class TreeCopy {
 public:
  static constexpr std::uint32_t kStep = 32;  // interfaces

  // By port; null: another worker's, whose rows stay empty.
  explicit TreeCopy(std::span<const std::unique_ptr<Egress>> egresses) : egresses_(egresses) {}

  // From the beginning, into a reading of this snapshot (blank_reading()).
  void start(Reading& r);
  // Copies some more. true: all of it is there.
  bool step(Reading& r, const Snapshot& snapshot);

 private:
  void copy(Reading& r, const QueueTree& tree, const PortTree::Node& node, InterfaceIndex i);

  std::span<const std::unique_ptr<Egress>> egresses_;
  // Where it goes on: the definition's first row, and the next of its interfaces.
  std::size_t port_ = 0, node_ = 1, row_ = 0;
  std::uint32_t member_ = 0;
  QueueReading scratch_;
};

}  // namespace surety
