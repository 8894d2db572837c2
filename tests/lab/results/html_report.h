// SPDX-License-Identifier: BSD-3-Clause
// `surety-lab run --report DIR`: index.html, one page that needs nothing else, and the series as CSV.
#pragma once

#include <span>
#include <string>

#include "tests/lab/results/result.h"
#include "tests/lab/scenario/scenario.h"

namespace surety::lab {

// The page: the scenario, tables over all runs, plots of the first run's series.
std::string report_page(const Scenario& scenario, std::span<const RunResult> runs);

// Writes index.html, flows.csv, queues.csv, domains.csv and aggregates.csv (those with something in them),
// over what is there; makes the directory. Throws std::system_error, whose text names the file.
void write_report(const std::string& directory, const Scenario& scenario, std::span<const RunResult> runs);

}  // namespace surety::lab
