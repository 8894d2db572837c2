// SPDX-License-Identifier: BSD-3-Clause
// Copies a worker's state into the numbers of a Reading. The names are written once, in blank_reading();
// filling allocates nothing.
#pragma once

#include <memory>
#include <span>

#include "router/operate/observe/reading.h"
#include "router/pipeline/egress.h"
#include "router/pipeline/flows/losses.h"
#include "router/pipeline/snapshot.h"

namespace surety {

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

}  // namespace surety
