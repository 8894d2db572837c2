// SPDX-License-Identifier: BSD-3-Clause
// `surety-lab papers`: the papers' tables and figures, which are Python (tests/lab/papers) over `surety-lab
// run --json`.
#pragma once

#include <string>
#include <vector>

namespace surety::lab {

// Becomes Python, and so does not return unless it cannot: then the exit status, 1. What follows `papers` on
// the command line is Python's to read.
int command_papers(const std::vector<std::string>& arguments);

}  // namespace surety::lab
