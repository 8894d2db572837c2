// SPDX-License-Identifier: BSD-3-Clause
// The table `subscribers`: what each has, and the sums of its contracts and its interface's counters.
#pragma once

#include <vector>

#include "config/config.h"
#include "router/operate/observe/reading.h"

namespace surety {

// Without traffic, sorted by name.
std::vector<SubscriberReading> subscriber_rows(const config::Config& config);

// The rows of a reading, with its contracts (those of customers with their names) and interfaces. Takes time
// proportional to all three. Contracts without a line of their own (contract_book.h) are not in the sums.
std::vector<SubscriberReading> subscriber_rows(const Reading& reading);

}  // namespace surety
