// SPDX-License-Identifier: BSD-3-Clause
// The TCP throughput equation of TFRC (RFC 5348 3.1) and its inverse.
//
//   X = s / (R sqrt(2 b p / 3) + t_RTO (3 sqrt(3 b p / 8)) p (1 + 32 p^2)),   b = 1, t_RTO = 4 R
//
// Rates are bytes per second as double: a controller's variable, not a contract's rate.
#pragma once

#include "conditioners/units.h"

namespace surety::endpoints {

// X in bytes/s; +infinity for p = 0. `segment` > 0, `rtt` > 0, 0 <= p <= 1.
double tfrc_throughput(Bytes segment, Duration rtt, double p);

// The p in [1e-8, 1] that gives `rate` (bytes/s), by bisection to a relative error of 1e-9;
// the nearest end beyond it.
double tfrc_loss_event_rate(Bytes segment, Duration rtt, double rate);

}  // namespace surety::endpoints
