// SPDX-License-Identifier: BSD-3-Clause
// `surety-lab check FILE...`
#pragma once

#include <string>
#include <vector>

namespace surety::lab {

// Prints every error and warning with its place, then a line that sums up each file. 0,
// or 1 when one has an error.
int command_check(const std::vector<std::string>& files);

}  // namespace surety::lab
