// SPDX-License-Identifier: BSD-3-Clause
// A reading as Prometheus metric families.
//
// Guarantees: names start with `surety_` and end in `_total` exactly when they count; base units (bytes,
// seconds, ratio); every port has a series for every drop reason, zero or not, so that rate() works from the
// first drop on; nothing is labelled per flow except the top flows, by slot, and only when the reading holds
// any. Families without series are left out.
#pragma once

#include "router/operate/observe/reading.h"
#include "router/process/metric_family.h"

namespace surety {

metrics::Families render(const Reading& reading);

}  // namespace surety

namespace surety::metrics {

// At most kMaxPathSeries paths have a series, the most throttled ones: a border may have hundreds of paths.
inline constexpr std::size_t kMaxPathSeries = 256;

// The part of render() about congestion control: alpha of domains and of paths, congestion signals, the
// temporary permitted rate of aggregates.
void congestion(Families& out, const Reading& r);

}  // namespace surety::metrics
