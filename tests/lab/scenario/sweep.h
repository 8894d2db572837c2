// SPDX-License-Identifier: BSD-3-Clause
// The settings of the command line: `--set key=value`, and `--sweep key=a,b,c`,
// whose values make a scenario each.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/lab/scenario/scenario.h"

namespace surety::lab {

struct Sweep {
  std::string path;
  std::vector<std::string> values;
};

// Split at the first `=`. Throws std::invalid_argument, which says what to write instead.
Setting parse_setting(std::string_view text);
// Values are separated by commas outside of quotes, braces and brackets, blanks around them are not theirs:
// `q={min: 5, max: 15},{min: 10, max: 30}` has two. Throws std::invalid_argument.
Sweep parse_sweep(std::string_view text);

inline constexpr std::size_t kMaxPoints = 10'000;

// Every combination of the sweeps' values, the last sweep's changing fastest; without any sweep one without
// settings. Throws std::invalid_argument when a path stands in two of them or there are more than kMaxPoints.
std::vector<std::vector<Setting>> points(std::span<const Sweep> sweeps);

}  // namespace surety::lab
