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
