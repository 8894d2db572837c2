// SPDX-License-Identifier: BSD-3-Clause
// The runs of one scenario as tables for people: what `surety-lab run FILE` prints.
#pragma once

#include <span>
#include <string>

#include "tests/lab/results/result.h"

namespace surety::lab {

// What was run, on one line: "fig2b, 300 s (measured 100 s - 300 s), seed 1".
std::string heading(std::span<const RunResult> runs);

// heading() and the tables: one run's values, or mean +- standard deviation over several seeds. Nothing in it
// depends on the machine.
std::string to_text(std::span<const RunResult> runs);

}  // namespace surety::lab
