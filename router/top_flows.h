// The flows that have carried most, for operators.
//
// Read by the control thread while the worker writes: numbers may be a moment apart, never more (DESIGN.md
// rule 9).
#pragma once

#include <vector>

#include "router/ingress.h"
#include "router/reading.h"
#include "router/snapshot.h"

namespace surety {

// At most `count` flows (contracts instead of the flows they cover), most bytes first.
std::vector<FlowReading> top_flows(const Ingress& ingress, const Snapshot& snapshot, std::size_t count,
                                   Time now);

}  // namespace surety
