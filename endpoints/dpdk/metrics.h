// SPDX-License-Identifier: BSD-3-Clause
// A reading as Prometheus metric families.
//
// Guarantees: names start with `surety_endpoint_` and end in `_total` exactly when they count; base units;
// series are labelled by {sender, protocol}, {sink, protocol} (sink: its port) or {port, reason}, never by
// flow; every reason has a series, zero or not. Unknown values (no RTT yet, no target) have no series.
#pragma once

#include "endpoints/dpdk/endpoint_reading.h"
#include "router/process/metric_family.h"

namespace surety::endpoints {

metrics::Families render(const EndpointReading& reading);

}  // namespace surety::endpoints
