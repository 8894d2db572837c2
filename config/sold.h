// SPDX-License-Identifier: BSD-3-Clause
// Committed rates of each customer in both directions, as `surety check` prints them.
//
// Upstream are the contracts' committed rates, and the queue of the uplinks that their IN packets go to;
// downstream the rate of the shaper, the part of what is shared with others, and the classes with their caps.
#pragma once

#include <string>

#include "config/config.h"

namespace surety::config {

// A table: a line for each interface of a customer, one for all of a template; empty where there is none.
std::string sold(const Config& config);
// Another table: committed rates and capacity of ports, groups and queues (sales.h).
std::string sold_in_all(const Config& config);

}  // namespace surety::config
