// SPDX-License-Identifier: BSD-3-Clause
// What is sold to each customer in both directions, as `surety check` prints it.
//
// Upstream that is what contracts commit, and the queue of the uplinks that its IN packets go to; downstream
// the rate of the shaper, the part of what is shared with others, and the classes with their caps.
#pragma once

#include <string>

#include "config/config.h"

namespace surety::config {

// A table: a line for each interface of a customer, one for all of a template; empty where there is none.
std::string sold(const Config& config);
// Another one: of ports, groups and queues what is sold in all, and what there is (sales.h).
std::string sold_in_all(const Config& config);

}  // namespace surety::config
