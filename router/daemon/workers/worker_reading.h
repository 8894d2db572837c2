// SPDX-License-Identifier: BSD-3-Clause
// Copies a worker's state into the numbers of a Reading. The names are written once, in blank_reading();
// filling allocates nothing.
#pragma once

#include <memory>
#include <span>

#include "router/operate/observe/reading.h"
#include "router/pipeline/flows/losses.h"
#include "router/pipeline/snapshot.h"

namespace surety {

class Egress;
class QueueTree;

// A reading with all names, and all numbers zero except the flow table's capacity: the same rows at the same
// places for every worker (reading_merge.h).
Reading blank_reading(const Snapshot& snapshot, unsigned core);
// Fills the queues of the ports that this worker owns; nullptr marks another's, whose rows stay unchanged.
void fill_egresses(Reading& r, std::span<const std::unique_ptr<Egress>> egresses, const Snapshot& snapshot);

// The sources of rows of which there may be tens of thousands.
struct ManyRows {
  std::span<const ServiceCounters> services;
  const Losses& losses;  // losses of `services`
  std::span<const std::uint64_t> filters;
  std::span<const std::unique_ptr<Egress>>
      egresses;  // sources of domains and aggregates; as in fill_egresses()
};
inline constexpr std::size_t kRowsAtOnce = 256;  // a few microseconds
// Fills kRowsAtOnce rows from `done` on. true: all are filled.
bool fill_some(Reading& r, const ManyRows& rows, const Snapshot& snapshot, std::size_t& done);

// Sets the names of the members' rows; on the reading thread.
void name_members(Reading& r, const Snapshot& snapshot);

// Copies the numbers of the queues below a worker's ports without delaying packets: a few interfaces between
// two turns. Nothing is allocated or formatted.
//
// The numbers of different interfaces are therefore from different turns; those of one queue are consistent.
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
