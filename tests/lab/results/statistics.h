// SPDX-License-Identifier: BSD-3-Clause
// What several seeds of one scenario have in common: mean, standard deviation,
// least and greatest of every number.
#pragma once

#include <nlohmann/json.hpp>
#include <span>

#include "tests/lab/results/result.h"

namespace surety::lab {

struct Summary {
  std::size_t n = 0;
  // 0 when n is 0. `sd` is the sample's (n - 1), 0 of a single value.
  double mean = 0, sd = 0, min = 0, max = 0;
};
Summary summary_of(std::span<const double> values);

// Jain's index: 1 where all are alike, 1/n where one has everything. Not of nothing.
double jain_index(std::span<const double> values);

// {"scenario", "seeds": N, "statistics": {"flows", "queues", "domains", "aggregates"}}:
// the rows of to_json() with {"mean", "sd", "min", "max", "n"} in place of every number.
// Nulls are left out, n says how many values there were; without any the four are null.
// A row stands where it appeared first; runs without it count as null. What only some of a row's versions
// have (a flow's drops at a router) is 0 in the others.
nlohmann::ordered_json summarize(std::span<const RunResult> runs);

}  // namespace surety::lab
