// SPDX-License-Identifier: BSD-3-Clause
// Promised against delivered, by service and by contract, as families of metrics.
#pragma once

#include "router/observe/reading.h"
#include "router/process/metric_family.h"

namespace surety::metrics {

void contracts(Families& out, const Reading& r);

}  // namespace surety::metrics
