// SPDX-License-Identifier: BSD-3-Clause
// `surety-lab run --report DIR`: the console's page (router/operate/console) with a recording in a router's
// place, to be opened as a file; and the series as CSV.
#pragma once

#include <span>
#include <string>

#include "tests/lab/results/result.h"
#include "tests/lab/scenario/scenario.h"

namespace surety::lab {

// Writes the page's files, data.js, flows.csv, queues.csv, domains.csv and aggregates.csv (those with
// something in them), over what is there; makes the directory. Throws std::system_error, whose text names the
// file.
void write_report(const std::string& directory, const Scenario& scenario, std::span<const RunResult> runs);

}  // namespace surety::lab
