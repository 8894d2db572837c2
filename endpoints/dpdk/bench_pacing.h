// SPDX-License-Identifier: BSD-3-Clause
// `surety-endpoint bench --pacing`: how exactly a worker paces 1,000 gTFRC flows of 5 Mbit/s each.
//
// Real time, the product's worker, snapshots read each second as in a run; a memory port that notes when it
// takes each packet. The error of a packet is its distance from the one before it of the same flow, against
// packet size / rate. Budget: 99 of 100 at most 20 us, on an otherwise idle core.
#pragma once

#include "conditioners/units.h"

namespace surety::endpoints {

inline constexpr Duration kPacingBudget = std::chrono::microseconds(20);

// EAL runs. Prints the quantiles beside the budget. Throws std::runtime_error.
void bench_pacing(bool json);

}  // namespace surety::endpoints
