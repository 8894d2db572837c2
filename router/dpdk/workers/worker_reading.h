// SPDX-License-Identifier: BSD-3-Clause
// How a worker's state becomes the numbers of a Reading. The names are written once, in blank_reading();
// filling allocates nothing.
#pragma once

#include <memory>
#include <span>

#include "router/contracts/losses.h"
#include "router/egress.h"
#include "router/observe/reading.h"
#include "router/snapshot.h"

namespace surety {

// All names, all numbers zero but the flow table's capacity: the same rows at the same places for every
// worker (reading_merge.h).
Reading blank_reading(const Snapshot& snapshot, unsigned core);
// Queues of the ports that this worker owns; null stands for another's, whose rows stay as they are.
void fill_egresses(Reading& r, std::span<const std::unique_ptr<Egress>> egresses, const Snapshot& snapshot);

// Rows of which there may be tens of thousands: what each is filled from.
struct ManyRows {
  std::span<const ServiceCounters> services;
  const Losses& losses;  // of these
  std::span<const std::uint64_t> filters;
  std::span<const std::unique_ptr<Egress>> egresses;  // as above: of domains and aggregates
};
inline constexpr std::size_t kRowsAtOnce = 256;  // a few microseconds
// Fills so many rows from `done` on. true: all are.
bool fill_some(Reading& r, const ManyRows& rows, const Snapshot& snapshot, std::size_t& done);

}  // namespace surety
