// SPDX-License-Identifier: BSD-3-Clause
// Where an expression finds its numbers: a path into what one run showed.
//
// The tree is that of `surety-lab run --json` (result_json.h) with the series of result.h under their names,
// e.g. `flows[f#*].ros`, `queues[core/out/*].in.early_drops`, `drops[core].early`,
// `flows[long].throughput_series`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/lab/papers/expression_value.h"
#include "tests/lab/results/result.h"

namespace surety::lab {

struct PathStep {
  std::string text;      // a key, or what stands in brackets: a name, with `*` and `?` for any
  bool selects = false;  // in brackets
};
struct Path {
  std::size_t variant = 0;  // of the experiment: the order of its variants
  std::string text;         // without the variant
  int column = 1;           // in its expression, from 1
  std::vector<PathStep> steps;
};

// What paths lead through. The order of lists is that of the result.
nlohmann::ordered_json tree_of(const RunResult& run);

// Whether such a path can lead to numbers, whatever the names; throws ValueError, which says what there is.
void check_path(const Path& path);

// A number if all names are plain, else a list; a single series is a list with its times. Items of lists
// are called by `name`, queues and domains by `router/port/queue`. A drop reason that did not occur is 0;
// no other match: ValueError.
Value look_up(const Path& path, const nlohmann::ordered_json& tree);

}  // namespace surety::lab
