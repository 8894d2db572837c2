// SPDX-License-Identifier: BSD-3-Clause
// Parts of render() (metrics.h): families of contracts and services, and families of congestion control.
#pragma once

#include "router/operate/observe/reading.h"
#include "router/process/metric_family.h"

namespace surety::metrics {

// Committed against delivered, by service and by contract.
void contracts(Families& out, const Reading& r);

// At most kMaxPathSeries paths have a series, the most throttled ones: a border may have hundreds of paths.
inline constexpr std::size_t kMaxPathSeries = 256;

// Alpha of domains and of paths, congestion signals, the temporary permitted rate of aggregates.
void congestion(Families& out, const Reading& r);

}  // namespace surety::metrics
