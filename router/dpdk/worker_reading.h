// How a worker's state becomes the numbers of a Reading. The names are written once, in blank_reading();
// filling allocates nothing.
#pragma once

#include <memory>
#include <span>

#include "router/egress.h"
#include "router/reading.h"
#include "router/snapshot.h"

namespace surety {

Reading blank_reading(const Snapshot& snapshot, unsigned core);
// Queues, domains and aggregates.
void fill_egresses(Reading& r, std::span<const std::unique_ptr<Egress>> egresses, const Snapshot& snapshot);

}  // namespace surety
