// SPDX-License-Identifier: BSD-3-Clause
// Which line leads from one router towards another.
#pragma once

#include <vector>

#include "tests/lab/simulation/plan.h"

namespace surety::lab {

// [from][to]: the first line of the way with the least delay, then the fewest routers, then the lowest line
// numbers; kNoLine where there is none, and for from == to.
std::vector<std::vector<LineNumber>> shortest_ways(const std::vector<PlannedLine>& lines,
                                                   std::size_t routers);

}  // namespace surety::lab
