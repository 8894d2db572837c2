// SPDX-License-Identifier: BSD-3-Clause
// What conditioners and markers do about congestion, as metric families (metrics.h): alpha of domains and of
// paths, congestion signals, the temporary permitted rate of aggregates.
#pragma once

#include "router/observe/reading.h"
#include "router/process/metric_family.h"

namespace surety::metrics {

// Of paths at most kMaxPathSeries have a series, those that are held back most: a border may know hundreds,
// a scraper need not.
inline constexpr std::size_t kMaxPathSeries = 256;

void congestion(Families& out, const Reading& r);

}  // namespace surety::metrics
