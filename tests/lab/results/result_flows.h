// SPDX-License-Identifier: BSD-3-Clause
// The table of flows: what was promised, what arrived, and whether the promise was kept.
#pragma once

#include <span>

#include "tests/lab/results/result_tables.h"

namespace surety::lab {

ResultTable flow_table(std::span<const RunResult> runs, std::size_t rows_per_stem);

// Mean, sd, least and greatest rate delivered over the seeds; of flows that share a row, over all of them.
ResultTable delivered_over_seeds(std::span<const RunResult> runs, std::size_t rows_per_stem);

}  // namespace surety::lab
