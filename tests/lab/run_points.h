// SPDX-License-Identifier: BSD-3-Clause
// The scenarios that one `surety-lab run` makes of a file: one for every combination of its sweeps.
#pragma once

#include <optional>
#include <ostream>
#include <vector>

#include "tests/lab/command_run.h"

namespace surety::lab {

struct Point {
  std::vector<Setting> swept;  // what makes it differ from the others
  Scenario scenario;
};

// Errors and warnings go to `errors`, those that several points have in common once;
// none: there was an error.
std::optional<std::vector<Point>> load_points(const RunCommand& command, std::ostream& errors);

// The link of that name, its ends in either order. Throws ScenarioError, with what it may have meant.
std::size_t find_link(const Scenario& scenario, const std::string& name);

}  // namespace surety::lab
