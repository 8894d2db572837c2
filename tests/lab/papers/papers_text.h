// SPDX-License-Identifier: BSD-3-Clause
// The papers' rows beside ours, for people and for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "tests/lab/papers/papers_run_collect.h"

namespace surety::lab {

// How many rows of a paper came to which verdict.
struct Tally {
  std::string paper, title = {};
  std::size_t rows = 0, met = 0, missed = 0, differs = 0, pinned = 0, printed = 0, not_run = 0;
  void add(Verdict v);  // a broken row and a missed pin count as missed
  void add(const Tally& other);
};
// Neighbours of one paper as one, under the first title.
std::vector<Tally> merged(std::span<const Tally> tallies);

std::string_view to_string(Verdict v);  // "met", "MISSED", "PIN MISSED", ...
std::string band_of(const Row& row);    // "630 - 700", "480 - 520 (pin)", "-"

// Four digits or so, decimals as the size asks for; counts without. "-" for null.
std::string shown_number(double x);
std::string shown_mean(const RowResult& row);  // "646.2 (12.3)"; the standard deviation from two seeds on

// A reason is printed once, and rows refer to it: the number of each row's, from 1; 0: none.
struct Reasons {
  std::vector<std::string> texts;
  std::vector<std::size_t> of_row;
};
Reasons reasons_of(const Experiment& e);

std::string experiment_text(const ExperimentResult& result);
std::string summary_text(std::span<const Tally> tallies);
// {"paper", "experiment", "what", "unit", "x", "printed", "mean", "sd", "min", "max", "seeds", "band", "pin",
// "claim", "judge", "verdict", "reason", "error"}; what there is not is null.
nlohmann::ordered_json row_json(const std::string& paper, const Experiment& e, std::size_t row,
                                const RowResult& result);

}  // namespace surety::lab
