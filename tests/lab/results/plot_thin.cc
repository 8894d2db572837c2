// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/results/plot_thin.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace surety::lab {
namespace {

void add_column(std::vector<std::size_t>& kept, std::span<const double> y, std::size_t from, std::size_t to) {
  std::size_t least = from, greatest = from, gap = from;
  bool gaps = false;
  for (std::size_t i = from; i < to; ++i) {
    if (!std::isfinite(y[i])) {
      if (!gaps) gap = i;
      gaps = true;
      continue;
    }
    // The negations let a first value that is not finite lose.
    if (!(y[least] <= y[i])) least = i;
    if (!(y[greatest] >= y[i])) greatest = i;
  }
  std::vector<std::size_t> some{from, least, greatest, gap, to - 1};
  std::sort(some.begin(), some.end());
  some.erase(std::unique(some.begin(), some.end()), some.end());
  kept.insert(kept.end(), some.begin(), some.end());
}

}  // namespace

std::vector<std::size_t> thinned(std::span<const double> y, std::size_t columns) {
  std::vector<std::size_t> kept;
  if (y.size() <= 4 * columns) {
    kept.resize(y.size());
    std::iota(kept.begin(), kept.end(), std::size_t{0});
    return kept;
  }
  for (std::size_t c = 0; c < columns; ++c)
    add_column(kept, y, c * y.size() / columns, (c + 1) * y.size() / columns);
  return kept;
}

}  // namespace surety::lab
