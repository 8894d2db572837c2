// SPDX-License-Identifier: BSD-3-Clause
// What the report draws of one run: its series, gathered into plots of a dozen lines at most.
#pragma once

#include <string>
#include <vector>

#include "tests/lab/results/result.h"
#include "tests/lab/results/svg_plot.h"

namespace surety::lab {

// Throughput, rates X, windows, delays, queues, alpha and TPR over time; what has no series has no plot.
// Flows of one sender that do not fit into a plot appear as their least, mean and greatest.
std::vector<Plot> report_plots(const RunResult& run);

}  // namespace surety::lab
