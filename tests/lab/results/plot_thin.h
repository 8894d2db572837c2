// SPDX-License-Identifier: BSD-3-Clause
// Which values of a long series a plot needs: more than a few in each column of pixels cannot be seen.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace surety::lab {

// Indices of `y`, ascending: all where there are at most four to a column; else of each column the first, the
// last, the least, the greatest and the first that is not finite (a gap).
std::vector<std::size_t> thinned(std::span<const double> y, std::size_t columns);

}  // namespace surety::lab
